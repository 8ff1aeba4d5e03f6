package agent

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testbed/doctor"
	"dmebench/internal/testbed/workqueue"
)

// LeaseTime is how long an agent waits for a sign of the coordinator that has taken
// it, until it kills the workers of the run and is free for another one.
const LeaseTime = 5 * time.Second

const (
	beat = 250 * time.Millisecond // between renewals, each of which compares the clocks

	// lostAfter is how long a coordinator waits for a sign of an agent: longer than
	// the agent waits for one of the coordinator, so that an agent that is given up has
	// ended its workers, unless it stands still itself. Its workers hold leases of the
	// coordinator's own for that.
	lostAfter = LeaseTime + 2*time.Second

	discovery = "dmebench.agents"

	// maxRecords bounds the records that the memory of a run has room for.
	maxRecords = 1 << 30

	// maxPiece is how many bytes of an answer one message carries: a server with its
	// usual settings passes on 1 MiB.
	maxPiece = 512 << 10

	maxProcs = 4096 // GOMAXPROCS of a worker
)

func subjectOf(instance string) string       { return "dmebench.agent." + instance }
func eventsOf(instance, lease string) string { return subjectOf(instance) + "." + lease }

// question is a kind of request, by its name on the wire: a Q is asked, an A is answered.
type question[Q, A any] string

// The questions. All but the first three are of a lease.
const (
	askDescribe question[nothing, Info]       = "describe" // the agent's description
	askOpen     question[openRequest, string] = "open"     // take part in a run: the lease
	askGiveUp   question[nothing, nothing]    = "give-up"  // no other run follows that of the lease, which is over

	askRenew question[int, []ending]   = "renew" // I am here, and know of this many ends of processes; which ones have followed?
	askClose question[int, []ending]   = "close" // the same, and the run is over: the end of the lease
	askRest  question[uint64, nothing] = "rest"  // the next piece of the answer to the request of that number

	askStart   question[startRequest, started] = "start"
	askKill    question[int, nothing]          = "kill" // the process of that number, from 1
	askPause   question[int, nothing]          = "pause"
	askResume  question[int, nothing]          = "resume"
	askStopped question[int, bool]             = "stopped"
	askStderr  question[int, []string]         = "stderr"

	askRead    question[nothing, []byte]          = "read" // see appendReadings
	askWitness question[bool, host.Witness]       = "witness"
	askHold    question[uint64, nothing]          = "hold"
	askRemove  question[dme.NodeID, control.Left] = "remove"
	askReport  question[nothing, host.Report]     = "report"

	askPort   question[[]byte, clock.Peer]             = "port"   // open a port for datagrams to the hosts that share this key
	askProbe  question[probeRequest, probed]           = "probe"  // exchange some with these hosts
	askFollow question[followRequest, nothing]         = "follow" // … with these until the run is over
	askPaths  question[nothing, map[string]clock.Path] = "paths"  // what came of that since this was last asked?

	askExamine question[doctor.Need, []doctor.Finding] = "examine" // your host
	askGate    question[[]byte, doctor.Doors]          = "gate"    // open one for the hosts that share this key
	askReach   question[reachRequest, []doctor.Path]   = "reach"   // try to reach these
)

type (
	nothing struct{}

	openRequest struct {
		Ticket string    `json:"ticket"` // of the agent's latest description
		Holder string    `json:"holder"` // the coordinator, for people
		Part   host.Part `json:"part"`
	}

	startRequest struct {
		Run    string `json:"run"` // names it on the control plane
		Worker int    `json:"worker"`
		Procs  int    `json:"procs"` // GOMAXPROCS
	}

	started struct {
		Process int `json:"process"` // its number in the lease, from 1
		PID     int `json:"pid"`
	}

	probeRequest struct {
		Peers []clock.Peer `json:"peers"`
		Count int          `json:"count"` // exchanges with each
	}

	probed struct {
		Paths    []clock.Path      `json:"paths"`    // in the order of the peers
		Failures map[string]string `json:"failures"` // why peers did not answer
	}

	followRequest struct {
		Peers    []clock.Peer  `json:"peers"`
		Interval time.Duration `json:"interval_ns"` // between exchanges with each
	}

	reachRequest struct {
		Doors []doctor.Doors `json:"doors"`
		Count int            `json:"count"` // questions to each
	}
)

// request is the head of a message to an agent; what is asked follows it.
type request struct {
	Op       string `json:"op"`
	Lease    string `json:"lease,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"` // grows with every request of a lease
}

// answer is the head of an agent's answer; what is answered follows it.
type answer struct {
	Error    string `json:"error,omitempty"`
	Over     bool   `json:"over,omitempty"` // the error is that the lease is over
	Received int64  `json:"received"`       // when the request came, on the agent's clock
	Answered int64  `json:"answered"`       // when this was sent
	Rest     uint64 `json:"rest,omitempty"` // askRest has the next piece, by this number
}

type ending struct {
	Process int      `json:"process"`
	Outcome string   `json:"outcome"`
	Stderr  []string `json:"stderr,omitempty"`
}

// event is what an agent says to its coordinator unasked.
type event struct {
	Ended *ending `json:"ended,omitempty"`
	Freed string  `json:"freed,omitempty"` // why the lease is over, if the coordinator has not ended it
}

var errUnreadable = errors.New("agent: the request cannot be read")

// message joins a head, JSON on one line, and any body.
func message(head any, body []byte) []byte { return append(append(encode(head), '\n'), body...) }

// encode returns the JSON form of what is asked or answered.
func encode(x any) []byte {
	b, err := json.Marshal(x)
	if err != nil {
		panic("agent: a message has no JSON form: " + err.Error())
	}
	return b
}

func readRequest(b []byte) (q request, body []byte, err error) {
	head, body, _ := bytes.Cut(b, []byte("\n"))
	return q, body, decode(head, &q)
}

// decode reads JSON strictly.
func decode(b []byte, into any) error {
	if err := workqueue.Decode(b, into); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return nil
}

// checkPart refuses what is no part of a run.
func checkPart(p *host.Part) error {
	switch {
	case p.Nodes < 1 || p.Nodes > run.MaxNodes:
		return fmt.Errorf("agent: open: %d nodes: there must be at least 1 and at most %d", p.Nodes, run.MaxNodes)
	case p.Records < 0 || p.Records > maxRecords/p.Nodes:
		return fmt.Errorf("agent: open: %d records of each of %d nodes: at most %d of all are kept", p.Records, p.Nodes, maxRecords)
	}
	last := dme.None
	for _, id := range p.Local {
		if id <= last || int(id) > p.Nodes {
			return fmt.Errorf("agent: open: nodes of this host: %d after %d, of %d: want them in ascending order", id, last, p.Nodes)
		}
		last = id
	}
	return nil
}

// check refuses what is no worker of a run.
func (q *startRequest) check(nodes int) error {
	switch {
	case len(q.Run) < 16 || len(q.Run) > 64 || !runName().MatchString(q.Run):
		return errors.New("agent: start: the name of the run is none")
	case q.Worker < 0 || q.Worker >= nodes:
		return fmt.Errorf("agent: start: worker %d: there is at most one for each of %d nodes", q.Worker, nodes)
	case q.Procs < 0 || q.Procs > maxProcs:
		return fmt.Errorf("agent: start: GOMAXPROCS %d: want 0 to %d", q.Procs, maxProcs)
	}
	return nil
}

// runName is what the coordinator draws at random, and nothing that means anything in a
// subject.
var runName = platform.Pattern(`^[A-Z0-9]+$`)

// The readings of a host are asked for hundreds of times a second: they have a compact
// form, of some ten bytes for each node, in the order of the nodes of the host.

func appendReadings(b []byte, readings []host.Reading, local []dme.NodeID) []byte {
	for _, id := range local {
		r := readings[id-1]
		for _, x := range [...]uint64{r.Sent, r.Handled, r.Requests, r.Entries, r.Timers, r.Pending, uint64(r.Activity)} {
			b = binary.AppendUvarint(b, x)
		}
	}
	return b
}

var errReadings = errors.New("agent: malformed readings")

// decodeReadings puts the readings of some nodes where they belong. b must hold
// nothing else.
func decodeReadings(readings []host.Reading, local []dme.NodeID, b []byte) error {
	for _, id := range local {
		r := &readings[id-1]
		var activity uint64
		for _, to := range [...]*uint64{&r.Sent, &r.Handled, &r.Requests, &r.Entries, &r.Timers, &r.Pending, &activity} {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return errReadings
			}
			*to, b = x, b[n:]
		}
		if activity > uint64(noderun.Down) {
			return errReadings
		}
		r.Activity = noderun.Activity(activity)
	}
	if len(b) > 0 {
		return errReadings
	}
	return nil
}
