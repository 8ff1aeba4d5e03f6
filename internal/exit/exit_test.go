package exit_test

import (
	"testing"

	"dmebench/internal/exit"
	"dmebench/result"
)

func TestExitCodes(t *testing.T) {
	for _, x := range []struct {
		status result.Status
		met    bool
		want   int
	}{
		{result.OK, true, 0}, {result.OK, false, 0}, {result.Violated, true, 1}, {result.Violated, false, 1},
		{result.Stalled, true, 1}, {result.Stalled, false, 2}, {result.Failed, true, 2}, {result.Failed, false, 2}, {"", true, 2},
	} {
		if got := exit.OfRun(x.status, x.met); got != x.want {
			t.Errorf("%q, links met the needs: %v: exit code %d, want %d", x.status, x.met, got, x.want)
		}
	}
}
