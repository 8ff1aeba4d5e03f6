package exit_test

import (
	"testing"

	"dmebench/internal/cli/exit"
	"dmebench/runs"
)

func TestExitCodes(t *testing.T) {
	for _, x := range []struct {
		status runs.Status
		met    bool
		want   int
	}{
		{runs.OK, true, 0}, {runs.OK, false, 0}, {runs.Violated, true, 1}, {runs.Violated, false, 1},
		{runs.Stalled, true, 1}, {runs.Stalled, false, 2}, {runs.Failed, true, 2}, {runs.Failed, false, 2}, {"", true, 2},
	} {
		if got := exit.OfRun(x.status, x.met); got != x.want {
			t.Errorf("%q, links met the needs: %v: exit code %d, want %d", x.status, x.met, got, x.want)
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, x := range []struct {
		code             int
		crossed, unknown bool
		want             int
	}{
		{0, false, false, 0}, {0, true, false, 3}, {0, true, true, 3}, {0, false, true, 2},
		{1, true, true, 1}, {2, true, false, 2}, {130, true, false, 130},
	} {
		if got := exit.OfThresholds(x.code, x.crossed, x.unknown); got != x.want {
			t.Errorf("%+v: exit code %d", x, got)
		}
	}
}
