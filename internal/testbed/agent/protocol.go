package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// LeaseTime is how long an agent waits for a sign of the coordinator that has taken
// it, until it kills the workers of the run and is free for another one.
const LeaseTime = 5 * time.Second

const (
	beat = 250 * time.Millisecond // between renewals, each of which compares the clocks

	// lostAfter is how long a coordinator waits for a sign of an agent: longer than
	// the agent waits for one of the coordinator, so that whoever is given up has
	// ended its workers, unless it stands still itself. Its workers hold leases of the
	// coordinator's own for that.
	lostAfter = LeaseTime + 2*time.Second

	discovery = "dmebench.agents"

	// maxRequest bounds a request, in bytes: the largest lists the nodes of a host.
	maxRequest = 16 << 20

	// maxRecords bounds the records that the memory of a run has room for.
	maxRecords = 1 << 30

	// piece is how many nodes, or records, an answer speaks of at most: an answer
	// must fit into what a server with its usual settings passes on, 1 MiB.
	piece = 1000

	maxProcs = 4096 // GOMAXPROCS of a worker
)

func subjectOf(instance string) string       { return "dmebench.agent." + instance }
func eventsOf(instance, lease string) string { return subjectOf(instance) + "." + lease }

// op says what a request asks for.
type op string

// The requests. All but the first two are of a lease; the last is of one that is over.
const (
	opDescribe op = "describe" // who are you?
	opOpen     op = "open"     // take part in a run: the beginning of a lease
	opRenew    op = "renew"    // I am there
	opStart    op = "start"    // start a worker
	opRead     op = "read"     // what have the nodes counted?
	opCounts   op = "counts"   // … in all its parts?
	opWaits    op = "waits"    // how long have they waited?
	opWitness  op = "witness"
	opHold     op = "hold"
	opHeld     op = "held"
	opBury     op = "bury"
	opEntered  op = "entered" // when did a node last enter?
	opLog      op = "log"     // the records of a node
	opKill     op = "kill"
	opPause    op = "pause"
	opResume   op = "resume"
	opStopped  op = "stopped"
	opStderr   op = "stderr"
	opReport   op = "report"
	opPort     op = "port"    // open a port for datagrams to the other hosts
	opProbe    op = "probe"   // exchange some with these hosts
	opFollow   op = "follow"  // … with these until the run is over
	opPaths    op = "paths"   // what came of that?
	opClose    op = "close"   // the run is over: the end of the lease
	opGiveUp   op = "give-up" // no other run follows that of the lease
)

// request is what a coordinator asks of an agent; the fields of its op are set.
type request struct {
	Op       op     `json:"op"`
	Lease    string `json:"lease,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"` // grows with every request of a lease

	Ticket string `json:"ticket,omitempty"` // open: of the agent's latest description
	Holder string `json:"holder,omitempty"` // open: who asks

	Doctor *examination `json:"doctor,omitempty"` // examine, gate, reach

	Part *host.Part `json:"part,omitempty"` // open

	Run     string     `json:"run,omitempty"`     // start: names it on the control plane
	Worker  int        `json:"worker,omitempty"`  // start
	Procs   int        `json:"procs,omitempty"`   // start: GOMAXPROCS
	Process int        `json:"process,omitempty"` // kill … stderr: which, from 1
	Node    dme.NodeID `json:"node,omitempty"`    // bury, entered, log
	Order   uint64     `json:"order,omitempty"`   // hold
	From    int        `json:"from,omitempty"`    // counts, log: the first of the piece
	Heard   int        `json:"heard,omitempty"`   // renew, close: of how many ends of processes the coordinator knows

	Key      []byte          `json:"key,omitempty"`         // port: that the run's hosts share
	Peers    []exchange.Peer `json:"peers,omitempty"`       // probe, follow
	Count    int             `json:"count,omitempty"`       // probe: exchanges with each
	Interval time.Duration   `json:"interval_ns,omitempty"` // follow: between exchanges with each
}

// answer is what an agent says to a request.
type answer struct {
	Error    string `json:"error,omitempty"`
	Over     bool   `json:"over,omitempty"` // the error is that the lease is over
	Received int64  `json:"received"`       // when the request came, on the agent's clock
	Answered int64  `json:"answered"`       // when this was sent

	Doctor *examined `json:"doctor,omitempty"` // examine, gate, reach

	Info     *Info               `json:"info,omitempty"`     // describe
	Lease    string              `json:"lease,omitempty"`    // open
	Process  int                 `json:"process,omitempty"`  // start
	PID      int                 `json:"pid,omitempty"`      // start
	Ended    []ending            `json:"ended,omitempty"`    // renew, close: those that the coordinator does not know of
	Readings []byte              `json:"readings,omitempty"` // read: see appendReadings
	Counts   []count             `json:"counts,omitempty"`   // counts
	Waits    *noderun.WaitCounts `json:"waits,omitempty"`
	Witness  *host.Witness       `json:"witness,omitempty"`
	Node     dme.NodeID          `json:"node,omitempty"` // held
	Remains  *host.Remains       `json:"remains,omitempty"`
	At       int64               `json:"at,omitempty"`      // entered
	Entries  []byte              `json:"entries,omitempty"` // log: as package entrylog writes them
	Next     int                 `json:"next,omitempty"`    // counts, log: where the next piece begins; 0 where there is none
	Stopped  bool                `json:"stopped,omitempty"`
	Stderr   []string            `json:"stderr,omitempty"`
	Host     *runs.Host          `json:"host,omitempty"` // report

	Peer     *exchange.Peer           `json:"peer,omitempty"`     // port: this host
	Probed   []exchange.Path          `json:"probed,omitempty"`   // probe: in the order of the peers
	Failures map[string]string        `json:"failures,omitempty"` // probe: why peers did not answer
	Paths    map[string]exchange.Path `json:"paths,omitempty"`    // paths: by peer
	More     bool                     `json:"more,omitempty"`     // paths: ask again
}

// ending is the end of a process.
type ending struct {
	Order   int      `json:"order"` // its place among all endings of the lease, from 1
	Process int      `json:"process"`
	Outcome string   `json:"outcome"`
	Stderr  []string `json:"stderr,omitempty"`
}

// event is what an agent tells its coordinator unasked.
type event struct {
	Ended *ending `json:"ended,omitempty"`
	Freed string  `json:"freed,omitempty"` // why the lease is over, where the coordinator has not ended it
}

// count is what a node has counted.
type count struct {
	Node   dme.NodeID     `json:"node"`
	Counts noderun.Counts `json:"counts"`
}

var errUnreadable = errors.New("agent: the request cannot be read")

// readRequest decodes a request, and refuses what is more or less than one.
func readRequest(b []byte) (q request, err error) {
	if len(b) > maxRequest {
		return q, fmt.Errorf("%w: %d bytes are too many", errUnreadable, len(b))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return q, fmt.Errorf("%w: something stands behind it", errUnreadable)
	}
	return q, nil
}

// checkPart refuses what is no part of a run.
func checkPart(p *host.Part) error {
	switch {
	case p == nil:
		return errors.New("agent: open: there is no part to take")
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

// checkWorker refuses what says of no worker of a run.
func checkWorker(q *request, nodes int) error {
	switch {
	case !isID(q.Run):
		return errors.New("agent: start: the name of the run is none")
	case q.Worker < 0 || q.Worker >= nodes:
		return fmt.Errorf("agent: start: worker %d: there is at most one for each of %d nodes", q.Worker, nodes)
	case q.Procs < 0 || q.Procs > maxProcs:
		return fmt.Errorf("agent: start: GOMAXPROCS %d: want 0 to %d", q.Procs, maxProcs)
	}
	return nil
}

// isID reports whether s may be a name that was drawn at random, by [crypto/rand.Text]:
// nothing that means anything in a subject.
func isID(s string) bool {
	for _, c := range s {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) >= 16 && len(s) <= 64
}

// CheckBroker refuses a server to which a connection would not be encrypted, unless it
// is on this host's loopback.
func CheckBroker(b nats.Broker) error {
	for s := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return fmt.Errorf("%w: %s: want nats://HOST:PORT or tls://HOST:PORT", nats.ErrBroker, b.Name())
		}
		if !encrypted(b, u) && !loopback(u.Hostname()) {
			return fmt.Errorf("%w at %s: it is not on this host's loopback, and the connection to it would not be encrypted: "+
				"credentials and keys pass there; write tls://%s, and name the authority of its certificate by --nats-ca "+
				"where it is none of the system's", nats.ErrBroker, b.Name(), u.Host)
		}
	}
	return nil
}

// encrypted reports whether a connection to the server insists on TLS.
func encrypted(b nats.Broker, u *url.URL) bool {
	return u.Scheme == "tls" || len(b.CA)+len(b.Cert) > 0
}

// onlyKnown keeps a connection that need not be encrypted from following what the
// server says of other servers: they may be on other hosts.
func onlyKnown(b nats.Broker) []natsgo.Option {
	for s := range strings.SplitSeq(b.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(s)); err != nil || !encrypted(b, u) {
			return []natsgo.Option{natsgo.IgnoreDiscoveredServers()}
		}
	}
	return nil
}
