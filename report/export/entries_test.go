package export

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/internal/record"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// kept returns a run that keeps some entries.
func kept(t *testing.T, dir, algorithm string, repetition int, entries ...record.Entry) runs.Run {
	t.Helper()
	b, err := record.Pack(entries, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, algorithm+".entries.gz")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return runs.Run{Label: algorithm, Repetition: repetition, Sections: file, Result: &runs.Result{
		Algorithm: algorithm, Nodes: 2, Transport: "tcp", Workload: "saturate", Seed: 9, Status: runs.OK,
	}}
}

func TestEntries(t *testing.T) {
	dir := t.TempDir()
	runs := []runs.Run{
		kept(t, dir, "maekawa", 1,
			record.Entry{Node: 2, Intended: 1010, Arrived: 1011, Requested: 1012, Entered: 1100, Exited: 1200, Order: 2, Sent: 9},
			record.Entry{Node: 2, Intended: 1001, Arrived: 1001, Requested: 1002, Entered: 1003, Exited: 1004, Order: 1, Sent: 4, Clock: 7},
			record.Entry{Node: 1, Shared: true, Intended: 1020, Arrived: 1020, Requested: 1020, Entered: 1300, Exited: 1301, Order: 3, Sent: 1}),
		{Label: "none", Sections: filepath.Join(dir, "none"), Result: &runs.Result{Algorithm: "none", Nodes: 2, Status: runs.OK}},
		kept(t, dir, "raymond", 0, record.Entry{Node: 1, Intended: 1000, Entered: 1000, Exited: 1001, Sent: 2}),
	}
	var out bytes.Buffer
	missing, err := Entries(&out, runs)
	if err != nil || missing != 1 {
		t.Fatal(missing, err)
	}
	rows := testkit.Table(t, out.Bytes())
	if len(rows) != 4 {
		t.Fatalf("%d rows:\n%s", len(rows), &out)
	}
	for i, want := range []string{
		"maekawa 2 2 9 1 2 false 1 1 2 3 4 4 7 1", "maekawa 2 2 9 2 2 false 10 11 12 100 200 5  2",
		"maekawa 2 2 9 3 1 true 20 20 20 300 301 1  3", "raymond 2 1 9 1 1 false 0 -1000 -1000 0 1 2  ",
	} {
		r := rows[i]
		var got []string
		for _, name := range []string{"label", "nodes", "repetition", "seed", "entry", "node", "shared", "intended_ns", "arrived_ns",
			"requested_ns", "entered_ns", "exited_ns", "messages_sent", "clock", "order"} {
			value, there := r[name]
			if !there {
				t.Fatalf("there is no column %s", name)
			}
			got = append(got, value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("row %d: %q, want %q", i, strings.Join(got, " "), want)
		}
	}
	if _, err := Entries(&out, runs[1:2]); !errors.Is(err, ErrNoEntries) {
		t.Errorf("of runs that keep none: %v", err)
	}
	if err := os.WriteFile(runs[0].Sections, []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Entries(&out, runs); err == nil || !strings.Contains(err.Error(), runs[0].Sections) {
		t.Errorf("of a damaged file: %v", err)
	}
}
