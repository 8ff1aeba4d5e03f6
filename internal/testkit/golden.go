package testkit

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the files that are generated as they should be")

// Rewriting says whether -rewrite was given, for pages that are partly generated.
func Rewriting() bool { return *rewrite }

// FileMustBe fails the test if a file differs from want, or writes it with -rewrite.
func FileMustBe(t *testing.T, file string, want []byte) {
	t.Helper()
	FileMustMatch(t, file, want, bytes.Equal)
}

// FileMustMatch is FileMustBe with a weaker idea of what is the same.
func FileMustMatch(t *testing.T, file string, want []byte, same func(got, want []byte) bool) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && same(got, want) {
		return
	}
	if !*rewrite {
		t.Errorf("%s is not what the program says (%v); the flag -rewrite writes it\n%s", file, err, firstDifference(got, want))
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "file:    " + g[i] + "\nprogram: " + w[i]
		}
	}
	return "one is longer than the other"
}

// Table reads a CSV file with a header: its rows, by column.
func Table(t *testing.T, text []byte) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}
