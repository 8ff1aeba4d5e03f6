package survival

import (
	"strconv"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
)

// table has a row for each algorithm and kind of fault. What is not known is empty.
func (d *Document) table() []byte {
	header := []string{"algorithm", "fault", "safe", "live", "runs", "struck", "unsafe", "stopped", "safe_by", "live_by", "only"}
	for _, metric := range []string{"recovered_ns", "served_ns", "recovery_messages"} {
		header = append(header, metric, metric+runs.LowSuffix, metric+runs.HighSuffix)
	}
	rows := [][]string{runs.TableHead(header...)}
	for _, c := range d.Cells {
		row := []string{c.Algorithm, c.Fault, string(c.Safe), string(c.Live)}
		for _, n := range []int{c.Runs, c.Struck, c.Unsafe, c.Stopped} {
			row = append(row, strconv.Itoa(n))
		}
		row = append(row, string(c.SafeBy), string(c.LiveBy), strings.Join(c.Only, "; "))
		for _, m := range []*Measure{c.Recovery, c.Served, c.Messages} {
			if m == nil {
				row = append(row, "", "", "")
				continue
			}
			row = append(row, present(&m.Median), present(m.Low), present(m.High))
		}
		rows = append(rows, row)
	}
	return layout.CSV(rows)
}

func present(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
