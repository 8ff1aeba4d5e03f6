package docs_test

import (
	"bytes"
	"encoding/csv"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/internal/schema"
	"dmebench/report"
	"dmebench/report/columns"
	"dmebench/report/compare"
	"dmebench/report/export"
	"dmebench/report/rank"
	"dmebench/report/survival"
	"dmebench/result"
)

// documented reads the tables below a heading of the page: rows of key, type and
// meaning, or of key and meaning.
func documented(t *testing.T, page, heading string) []schema.Field {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("results-format.md has no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	var fields []schema.Field
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		key := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		f := schema.Field{Key: strings.Trim(key, "`"), Meaning: strings.TrimSpace(cells[len(cells)-1])}
		if len(cells) > 2 {
			f.Kind = strings.TrimSpace(cells[1])
		}
		fields = append(fields, f)
	}
	return fields
}

// sameFields compares a table of the page with what the program has.
func sameFields(t *testing.T, heading string, page, program []schema.Field) {
	t.Helper()
	byKey := make(map[string]schema.Field)
	for _, f := range page {
		if byKey[f.Key] != (schema.Field{}) {
			t.Errorf("%s: %s is documented twice", heading, f.Key)
		}
		if f.Meaning == "" {
			t.Errorf("%s: %s has no meaning", heading, f.Key)
		}
		byKey[f.Key] = f
	}
	for _, f := range program {
		switch have, ok := byKey[f.Key]; {
		case !ok:
			t.Errorf("%s: %s (%s) is not documented", heading, f.Key, f.Kind)
		case f.Meaning != "" && strings.ReplaceAll(have.Meaning, "`", "") != f.Meaning:
			t.Errorf("%s: %s is documented as %q, and is %q", heading, f.Key, have.Meaning, f.Meaning)
		case have.Kind != f.Kind:
			t.Errorf("%s: %s is documented as %q, and is %q", heading, f.Key, have.Kind, f.Kind)
		}
		delete(byKey, f.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		t.Errorf("%s: %s is documented and does not exist", heading, key)
	}
}

// column returns a column as the program's list of them has it.
func column(t *testing.T, table, name string) schema.Field {
	t.Helper()
	for _, c := range columns.Own() {
		if c.Name == name {
			return schema.Field{Key: name, Meaning: strings.ReplaceAll(c.Meaning, "`", "")}
		}
	}
	t.Errorf("%s has a column %s, which is not among those that all tables share", table, name)
	return schema.Field{Key: name}
}

// results-format.md documents every key and every column that there is,
// and none that there is not.
func TestResultsFormatPage(t *testing.T) {
	page := string(read(t, "results-format.md"))
	ofResult, ofTimes, err := schema.Result()
	if err != nil {
		t.Fatal(err)
	}
	sameFields(t, "a result", documented(t, page, "## A result"), ofResult)
	sameFields(t, "times", documented(t, page, "## Times"), ofTimes)

	named := map[reflect.Type]string{reflect.TypeFor[compare.Cell](): "cell", reflect.TypeFor[compare.Sample](): "sample"}
	sameFields(t, "a comparison", documented(t, page, "## A comparison"), whole(reflect.TypeFor[compare.Comparison](), named))
	sameFields(t, "columns", documented(t, page, "## Columns of a comparison"), whole(reflect.TypeFor[compare.Columns](), nil))
	sameFields(t, "a ranking", documented(t, page, "## A ranking"), whole(reflect.TypeFor[rank.Ranking](), nil))

	var dimensions, metrics []schema.Field
	for _, name := range result.Dimensions() {
		dimensions = append(dimensions, schema.Field{Key: name})
	}
	sameFields(t, "dimensions", documented(t, page, "## The store"), dimensions)
	for _, m := range result.Metrics() {
		metrics = append(metrics, schema.Field{Key: m.Name, Kind: "`" + m.Unit + "`"})
	}
	sameFields(t, "metrics", documented(t, page, "## Metrics"), metrics)

	// Runs on several hosts with a shared resource have every table and every column.
	placed := &result.Result{Hosts: []result.Host{{Name: "a"}}, Spec: result.Spec{Resource: "nats"}}
	files, err := export.CSV(&result.Set{Runs: []result.Run{{Label: "x", Result: placed}}})
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
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".csv") {
			continue
		}
		// Columns that stand in a table of their own.
		elsewhere := map[string][]schema.Field{
			"summary.csv": append([]schema.Field{{Key: "label"}}, dimensions...),
			"runs.csv":    append(append([]schema.Field{{Key: "label"}}, dimensions...), metrics...),
			"times.csv":   append([]schema.Field{{Key: "label"}, {Key: "repetition"}, {Key: "seed"}}, dimensions...),
			"hosts.csv":   append([]schema.Field{{Key: "label"}, {Key: "repetition"}, {Key: "seed"}, {Key: "status"}}, dimensions...),
			"links.csv":   append([]schema.Field{{Key: "label"}, {Key: "repetition"}, {Key: "seed"}, {Key: "status"}}, dimensions...),
		}[f.Name]
		if f.Name == "validate.csv" || f.Name == "survival.csv" {
			elsewhere = dimensions
		}
		for _, m := range metrics {
			for _, suffix := range []string{"", "_ci95_low", "_ci95_high"} {
				elsewhere = append(elsewhere, schema.Field{Key: m.Key + suffix})
			}
		}
		header, err := csv.NewReader(bytes.NewReader(f.Data)).Read()
		if err != nil {
			t.Fatal(err)
		}
		var ownColumns []schema.Field
		for _, name := range header {
			if !slices.ContainsFunc(elsewhere, func(f schema.Field) bool { return f.Key == name }) {
				ownColumns = append(ownColumns, column(t, f.Name, name))
			}
		}
		sameFields(t, f.Name, documented(t, page, "## "+f.Name), ownColumns)
	}
}

// whole lists the keys of what is compared, in which no array and no object is ever null.
func whole(t reflect.Type, named map[reflect.Type]string) []schema.Field {
	var all []schema.Field
	for _, f := range schema.Fields(t, named) {
		if strings.HasPrefix(f.Kind, "array") || strings.HasPrefix(f.Kind, "object of") {
			f.Kind = strings.TrimSuffix(f.Kind, " or null")
		}
		all = append(all, f)
	}
	return all
}
