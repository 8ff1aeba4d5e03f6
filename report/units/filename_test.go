package units_test

import (
	"strings"
	"testing"

	"dmebench/report/units"
)

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"Raymond's star, N = 7": "raymond-s-star-n-7", "CS 100 µs · t=1.5ms": "cs-100-us-t-1.5ms", "../../etc": "etc", "线程": "",
		strings.Repeat("long ", 100): strings.TrimSuffix(strings.Repeat("long-", 24), "-"),
	} {
		if got := units.Slug(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestNamesAreTakenOnce(t *testing.T) {
	names := make(units.Names)
	for _, want := range []string{"a-b", "a-b-2", "a-b-3"} {
		if got := names.Take("A b"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := names.Take("a b 2"); got != "a-b-2-2" {
		t.Errorf("%q has the name of another one", got)
	}
}
