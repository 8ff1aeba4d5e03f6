package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"dmebench/internal/experiment"
	"dmebench/internal/testbed/agent"
	"dmebench/runs"
)

// A run is carried out again while an agent is not there, for as long as the patience lasts; any
// other error stands.
func TestWhileAbsent(t *testing.T) {
	absent, other := fmt.Errorf("host b: %w", agent.ErrAbsent), errors.New("something else")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, x := range []struct {
		name     string
		ctx      context.Context
		patience time.Duration
		errs     []error // of the attempts
		notices  int
		want     error
	}{
		{"at once", t.Context(), time.Hour, []error{nil}, 0, nil},
		{"back again", t.Context(), time.Hour, []error{absent, agent.ErrNoServer, absent, nil}, 1, nil},
		{"another error", t.Context(), time.Hour, []error{absent, other}, 1, other},
		{"no patience left", t.Context(), 0, []error{absent}, 0, experiment.ErrNoHost},
		{"interrupted", ended, time.Hour, []error{absent}, 0, agent.ErrAbsent},
	} {
		attempts, notices := 0, 0
		r, err := whileAbsent(x.ctx, x.patience, func(error) { notices++ }, func() (*runs.Result, error) {
			err := x.errs[attempts]
			if attempts++; err != nil {
				return nil, err
			}
			return new(runs.Result), nil
		})
		if attempts != len(x.errs) || notices != x.notices || !errors.Is(err, x.want) || (r != nil) != (x.want == nil) {
			t.Errorf("%s: %v, %d attempts, %d notices", x.name, err, attempts, notices)
		}
	}
}
