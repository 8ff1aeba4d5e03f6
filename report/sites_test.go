package report_test

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/report/page"
	"dmebench/runs"
)

// The page says of each site with nodes how long these waited, how often the critical
// section stayed there beside how often it would by chance, and how far it is to the others.
func TestSites(t *testing.T) {
	in := experiment(t, []string{"raymond"}, []string{"saturate"}, []int{7}, 6)
	for i := range in.Runs {
		r := in.Runs[i].Result
		r.Entries = 100
		waits := func(ns int64) *runs.Quantiles { return &runs.Quantiles{Count: 50, P50: ns, P99: 2 * ns} }
		r.Sites = []runs.Site{
			{Name: "oslo", Nodes: 4, Entries: 80, Stays: 60, Waiting: waits(3e6), DelayNS: []int64{0, 9e6, 1e6}},
			{Name: "rome", Nodes: 3, Entries: 20, Stays: 2, Waiting: waits(5e6), DelayNS: []int64{8e6, 2e6, 1e6}},
			{Name: "nowhere", DelayNS: []int64{1e6, 1e6, 0}},
		}
	}
	in.Runs[5].Result.Sites = in.Runs[5].Result.Sites[1:2] // a file that has changed
	tables := build(t, in).page(t).Tables
	at := slices.IndexFunc(tables, func(x page.Table) bool { return x.ID == "sites" })
	if at < 0 || len(tables[at].Rows) != 2 {
		t.Fatalf("no table of two sites: %+v", tables)
	}
	for i, want := range [][]float64{{4, 3e6, 6e6, 75, 80}, {3, 5e6, 10e6, 10, 20}} {
		values := tables[at].Rows[i].Values[4:]
		for k, x := range want {
			if values[k].Number == nil || float64(*values[k].Number) != x {
				t.Errorf("row %d, column %s: %+v, want %v", i, tables[at].Columns[4+k].Title, values[k], x)
			}
		}
	}
	at = slices.IndexFunc(tables, func(x page.Table) bool { return x.ID == "distances" })
	if at < 0 {
		t.Fatal("no table of the ways between sites")
	}
	var ways []string
	for _, r := range tables[at].Rows {
		ways = append(ways, fmt.Sprint(r.Values[0].Text, " ", r.Values[1].Text, " ", *r.Values[2].Number))
	}
	if want := []string{"oslo rome 9e+06", "rome oslo 8e+06", "rome rome 2e+06"}; !slices.Equal(ways, want) {
		t.Errorf("ways %q, want %q", ways, want)
	}
}
