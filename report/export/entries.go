package export

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/result"
)

// ErrNoEntries is the error where no run keeps records of its critical sections.
var ErrNoEntries = errors.New("export: these results keep no records of single critical sections; " +
	"'dmebench run --entries --out DIR' and 'dmebench sweep --entries' keep them")

// Entries writes a table with a row for each critical section of the runs that keep
// records of them: in the order in which they began, times in nanoseconds since the
// run's workload began. Rows are written as they are read. It returns how many runs
// keep no records; none at all is an [ErrNoEntries].
func Entries(w io.Writer, runs []result.Run) (missing int, err error) {
	out := csv.NewWriter(w)
	late := result.LateDimensions(resultsOf(runs))
	header := slices.Concat(identity(), []string{
		"entry", "node", "shared", "intended_ns", "arrived_ns", "requested_ns", "entered_ns", "exited_ns", "messages_sent", "clock", "order",
	}, late)
	for _, r := range runs {
		if !result.Usable(r.Result) {
			continue
		}
		f, err := os.Open(r.Sections)
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return missing, fmt.Errorf("export: the records of %s, repetition %d: %w", r.Label, r.Repetition+1, err)
		}
		if header != nil {
			out.Write(header)
			header = nil
		}
		err = writeEntries(out, f, identify(r), dimensions(r, late))
		f.Close()
		if err != nil {
			return missing, fmt.Errorf("export: %s: %w; is the file damaged?", r.Sections, err)
		}
	}
	if header != nil {
		return missing, ErrNoEntries
	}
	out.Flush()
	return missing, out.Error()
}

// writeEntries writes the rows of one run, which begin and end as given.
func writeEntries(out *csv.Writer, f io.Reader, first, last []string) error {
	_, entries, err := entrylog.Unpack(f)
	if err != nil {
		return err
	}
	sent := make(map[dme.NodeID]uint64) // by node, when it left last
	row, count := slices.Clone(first), 0
	signed := func(x int64) { row = append(row, strconv.FormatInt(x, 10)) }
	// What an algorithm does not have is empty.
	given := func(x uint64) {
		if x == 0 {
			row = append(row, "")
		} else {
			row = append(row, strconv.FormatUint(x, 10))
		}
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		count++
		row = append(row[:len(first)], strconv.Itoa(count), e.Node.String(), strconv.FormatBool(e.Shared))
		for _, at := range []int64{e.Intended, e.Arrived, e.Requested, e.Entered, e.Exited} {
			signed(at)
		}
		row = append(row, strconv.FormatUint(e.Sent-sent[e.Node], 10))
		sent[e.Node] = e.Sent
		given(e.Clock)
		given(e.Order)
		if err := out.Write(append(row, last...)); err != nil {
			return err
		}
	}
	return nil
}
