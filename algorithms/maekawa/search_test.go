package maekawa_test

import (
	"strings"
	"testing"

	"dmebench/dme/conformance"
)

// verdict is what became of a schedule.
type verdict string

const (
	held    verdict = "held"
	unsafe  verdict = "unsafe"  // two nodes in the critical section
	stalled verdict = "stalled" // a request is pending and nothing moves
)

// search counts the verdicts of a walk over seeds.
func search(t *testing.T, w conformance.Walk, seeds int) map[verdict]int {
	t.Helper()
	count := make(map[verdict]int)
	for w.Seed = range uint64(seeds) {
		_, err := w.Run()
		switch {
		case err == nil:
			count[held]++
		case strings.Contains(err.Error(), conformance.Unsafe):
			count[unsafe]++
		case strings.Contains(err.Error(), conformance.Stalled):
			count[stalled]++
		default:
			t.Fatal(err)
		}
	}
	return count
}
