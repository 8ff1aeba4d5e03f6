package servers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dmebench/internal/platform/launch"
	"dmebench/lock"
	"dmebench/runs"
)

// telling is a service whose servers say what they are told to.
type telling struct {
	Service
	status lock.Status
	err    error
}

func (t telling) Status(context.Context) (lock.Status, error) { return t.status, t.err }

func exchanged(messages, bytes uint64) *runs.Between {
	return &runs.Between{Messages: &messages, Bytes: &bytes}
}

// What servers have exchanged counts from their launch, as far as it is known.
func TestStatus(t *testing.T) {
	killed := []*launch.Child{nil}
	for _, x := range []struct {
		name       string
		first, now lock.Status
		err        error
		killed     []*launch.Child
		want       *runs.Between
		untold     string
		leader     int
	}{
		{"as they count", lock.Status{Between: exchanged(5, 100)}, lock.Status{Leader: 2, Between: exchanged(12, 400)}, nil, nil,
			exchanged(7, 300), "", 2},
		{"one server", lock.Status{Untold: "there is one server"}, lock.Status{Untold: "there is one server"}, nil, nil,
			nil, "one server", 0},
		{"one was killed", lock.Status{Between: exchanged(5, 100)}, lock.Status{Between: exchanged(2, 40)}, nil, killed,
			nil, "was killed", 0},
		{"none answers", lock.Status{Between: exchanged(5, 100)}, lock.Status{}, errors.New("timeout"), nil,
			nil, "do not answer: timeout", -1},
	} {
		x.first.Settings = map[string]string{"fsync": "true"}
		g := &group{service: telling{status: x.now, err: x.err}, first: x.first, killed: x.killed}
		got := g.Status(t.Context())
		same := (got.Between == nil) == (x.want == nil)
		if same && x.want != nil {
			same = *got.Between.Messages == *x.want.Messages && *got.Between.Bytes == *x.want.Bytes
		}
		if !same || got.Leader != x.leader || !strings.Contains(got.Untold, x.untold) || (x.untold == "") != (got.Untold == "") ||
			got.Settings["fsync"] != "true" {
			t.Errorf("%s: %+v", x.name, got)
		}
	}
}
