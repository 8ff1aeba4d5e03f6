package docs_test

import (
	"bytes"
	"encoding/csv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/report"
	"dmebench/report/export"
	"dmebench/report/survival"
	"dmebench/runs"
)

var (
	explained = regexp.MustCompile("(?m)^(?:\\| |- )(`[^`]+`)(?: \\| |: )\\S")
	withUnit  = regexp.MustCompile("(`[a-z0-9_]+` \\(`[^`]+`\\))")
)

// listed reads the names in a section of the page.
func listed(t *testing.T, page, heading string, pattern *regexp.Regexp) []string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("results-format.md has no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	var names []string
	for _, m := range pattern.FindAllStringSubmatch(section, -1) {
		names = append(names, strings.ReplaceAll(m[1], "`", ""))
	}
	return names
}

// sameNames compares what the page documents with what the program has, each once.
func sameNames(t *testing.T, heading string, page, program []string) {
	t.Helper()
	count := make(map[string]int)
	for _, name := range page {
		count[name]++
	}
	for _, name := range program {
		if count[name] != 1 {
			t.Errorf("%s: %s is documented %d times, not once", heading, name, count[name])
		}
		delete(count, name)
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Errorf("%s: %s is documented and does not exist", heading, name)
	}
}

// results-format.md documents every dimension, metric and column that there is, once, and
// none that there is not. The keys of results, comparisons and rankings are in the schema.
func TestResultsFormatPage(t *testing.T) {
	page := string(read(t, "results-format.md"))
	sameNames(t, "dimensions", listed(t, page, "## The store", explained), runs.Dimensions())
	var metrics []string
	for _, m := range runs.Metrics() {
		metrics = append(metrics, m.Name+" ("+m.Unit+")")
	}
	sameNames(t, "metrics", listed(t, page, "## Metrics", withUnit), metrics)

	// Runs on several hosts with a shared resource have every table and every column.
	placed := &runs.Result{Hosts: []runs.Host{{Name: "a"}}, Spec: runs.Spec{Resource: "nats"}}
	files, err := export.CSV(&runs.Set{Runs: []runs.Run{{Label: "x", Result: placed}}})
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := report.Validation(&claims.Document{})
	if err != nil {
		t.Fatal(err)
	}
	survivors, err := report.Survival(&survival.Document{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range verdicts {
		files = append(files, export.File(f))
	}
	for _, f := range survivors {
		files = append(files, export.File(f))
	}
	used := make(map[string]bool)
	var named []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".csv") {
			continue
		}
		named = append(named, f.Name)
		header, err := csv.NewReader(bytes.NewReader(f.Data)).Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range header {
			if !runs.IsColumn(name) {
				t.Errorf("%s has a column %s, which is not among those that all tables share", f.Name, name)
			}
			used[name] = true
		}
	}
	for _, name := range runs.Columns() {
		if !used[name] {
			t.Errorf("no table has a column %s", name)
		}
	}
	sameNames(t, "tables", listed(t, page, "## Tables", explained), append(named, runs.Columns()...))
}
