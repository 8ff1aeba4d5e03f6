package trace_test

import (
	"bytes"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/search/trace"
)

// Every sound algorithm has an example, in which three requests are served.
func TestEveryAlgorithmHasAnExample(t *testing.T) {
	for _, a := range algorithms.All() {
		if a.AsPublished {
			continue // some of them stop
		}
		t.Run(a.Name, func(t *testing.T) {
			s, err := trace.Example(a)
			if err != nil {
				t.Fatal(err)
			}
			played, err := s.Play(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(played.Text, []byte("\n  enter ")); n != 3 {
				t.Errorf("%d entries, want 3:\n%s", n, played.Text)
			}
		})
	}
}
