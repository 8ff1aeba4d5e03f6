package cli

import (
	"strings"
	"testing"
)

// Every key has a meaning, every meaning a key: schemaJSON fails otherwise.
func TestMeaningsAreComplete(t *testing.T) {
	whole := meanings
	defer func() { meanings = whole }()
	for text, want := range map[string]string{
		whole: "",
		strings.Replace(whole, "work.longest_queue: ", "work.longest_list: ", 1): "work.longest_queue has no meaning",
		strings.Replace(whole, "times.p99: ", "p99: ", 1):                        "times.p99 has no meaning",
		whole + "mood: how it felt\n":                                            "mood has a meaning and does not exist",
	} {
		meanings = text
		if _, err := schemaJSON(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
