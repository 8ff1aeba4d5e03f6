package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/cli"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

// provenTable is the table of checking.md.
var provenTable = regexp.MustCompile(`(?m)^\| ALGORITHM .*\n(\|.*\n)+`)

// checking.md's table is what the program finds out; it takes a quarter of an hour.
func TestCheckingPage(t *testing.T) {
	page := read(t, "checking.md")
	old := provenTable.Find(page)
	if old == nil {
		t.Fatal("checking.md has no table")
	}
	if testkit.Full() {
		testkit.FileMustBe(t, "checking.md", bytes.Replace(page, old, say(t, cli.Held, "check", "--prove", "--quiet", "--markdown"), 1))
		return
	}
	// Otherwise every algorithm has a row, and what two and three nodes take little
	// time to show is shown again.
	for _, a := range algorithms.All() {
		if !bytes.Contains(old, []byte("| "+a.Name+" ")) {
			t.Errorf("checking.md has no row of %s", a.Name)
		}
	}
	if !testkit.Long() {
		return
	}
	var results []check.Proven
	printed := say(t, cli.Held, "check", "--prove", "--quiet", "--json", "--nodes", "3", "--each", "1", "--states", "20000")
	if err := json.Unmarshal(printed, &results); err != nil {
		t.Fatal(err)
	}
	proven, refuted := 0, 0
	for _, r := range results {
		row := rowOf(t, old, r.Name())
		for _, p := range r.Proven {
			proven++
			if !strings.Contains(row[2], fmt.Sprintf(" %d", p.Nodes)) {
				t.Errorf("%s is proven for %d nodes; checking.md says %q", r.Algorithm, p.Nodes, row[2])
			}
		}
		if f := r.Refuted; f != nil {
			refuted++
			if strings.TrimSpace(row[6]) != f.String() {
				t.Errorf("%s: found %s; checking.md says %q", r.Algorithm, f, row[6])
			}
		}
	}
	if proven < 30 || refuted < 5 {
		t.Errorf("%d proofs and %d refutations show little", proven, refuted)
	}
}

// rowOf returns the cells of the row of an algorithm and its setting, from 1 on.
func rowOf(t *testing.T, table []byte, name string) []string {
	t.Helper()
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "| "+name+" |") {
			return strings.Split(line, "|")
		}
	}
	t.Fatalf("checking.md has no row of %s", name)
	return nil
}
