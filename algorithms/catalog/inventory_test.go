package catalog_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

// Every statement of the source texts has a claim, or a reason why it has none; and
// every claim states one of them.
func TestInventory(t *testing.T) {
	text, err := os.ReadFile("testdata/inventory.txt")
	if err != nil {
		t.Fatal(err)
	}
	stated := make(map[string]bool) // by a line, of all ids
	for _, a := range catalog.All() {
		if a.AsPublished {
			continue
		}
		for _, c := range append(dme.SafeAndLive("all texts"), a.Claims...) {
			stated[a.ClaimID(c)] = false
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " | ")
		if len(columns) != 3 || slices.Contains(columns, "") {
			t.Errorf("line %d: want statement | where | claims", i+1)
			continue
		}
		if reason, none := strings.CutPrefix(columns[2], "– "); none {
			if len(strings.Fields(reason)) < 5 {
				t.Errorf("line %d: %q has no claim, and no reason", i+1, columns[0])
			}
			continue
		}
		for begin := range strings.FieldsSeq(columns[2]) {
			found := false
			for id := range stated {
				if begins(id, begin) {
					stated[id], found = true, true
				}
			}
			if !found {
				t.Errorf("line %d: there is no claim %s", i+1, begin)
			}
		}
	}
	for id, ok := range stated {
		if !ok {
			t.Errorf("%s: no statement of the texts has it", id)
		}
	}
}

// begins reports whether an id begins so, with a whole part; * is any algorithm.
func begins(id, begin string) bool {
	if rest, any := strings.CutPrefix(begin, "*"); any {
		_, id, _ = strings.Cut(id, "/")
		id, begin = "/"+id, rest
	}
	rest, ok := strings.CutPrefix(id, begin)
	return ok && (rest == "" || strings.HasSuffix(begin, "/") || strings.ContainsAny(rest[:1], "/,"))
}
