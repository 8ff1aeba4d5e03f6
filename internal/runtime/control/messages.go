package control

import (
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/transport/nats"
)

// maxPayload bounds a message of the control plane, in bytes. The largest is the
// address book of some ten thousand nodes, or a chunk of records.
const maxPayload = 8 << 20

// Boot is what a worker reads from its standard input, as one line of JSON. It
// holds the secrets, which are never on a command line.
type Boot struct {
	Broker nats.Broker `json:"broker"` // of the control plane
	Run    string      `json:"run"`    // names the run among those of one broker
	Worker int         `json:"worker"` // index from 0

	// Exec says that the worker may start the programs that a run names. Workers on
	// other hosts may not.
	Exec bool `json:"exec,omitempty"`
}

// Op says what a command asks for.
type Op string

// The commands, in the order of a run's life.
const (
	OpAssign  Op = "assign"  // here is your part of the run: open your transport
	OpConnect Op = "connect" // here is the address book: connect
	OpPing    Op = "ping"    // measure one-way delays
	OpMark    Op = "mark"    // the pings are over: count what your transport does from now on
	OpBegin   Op = "begin"   // start the nodes and the workload
	OpStep    Op = "step"    // make these requests
	OpDown    Op = "down"    // these nodes are no more
	OpUp      Op = "up"      // a node is there, perhaps again
	OpSeize   Op = "seize"   // keep a node from doing anything more, if it is as asked
	OpFree    Op = "free"    // let a node go on that was seized, or that stays in the critical section
	OpCut     Op = "cut"     // nothing passes between these sides any more
	OpHeal    Op = "heal"    // carries frames again
	OpLeave   Op = "leave"   // have a node leave the system as soon as its process is idle
	OpAlive   Op = "alive"   // are you there, and do your nodes get anywhere?
	OpStop    Op = "stop"    // no more requests will come: let the system fall silent
	OpReport  Op = "report"  // what have you counted?
	OpEntries Op = "entries" // a chunk of your records
	OpEvents  Op = "events"  // a chunk of what you have recorded of one node
	OpStates  Op = "states"  // the decoded states of your nodes
	OpTraffic Op = "traffic" // what have your nodes sent to each other node, and what has come from it?
	OpFence   Op = "fence"   // your host is lost: do nothing any more, and say what you leave
	OpQuit    Op = "quit"    // close everything and exit
)

// Command is what the leader asks of a member; the fields of its Op are set.
type Command struct {
	Op      Op                    `json:"op"`
	Assign  *Assignment           `json:"assign,omitempty"`
	Book    transport.AddressBook `json:"book,omitempty"`
	Pairs   [][2]uint32           `json:"pairs,omitempty"`  // ping: from a local node to another
	Count   int                   `json:"count,omitempty"`  // ping: how often each
	Within  time.Duration         `json:"within,omitempty"` // ping: no ping is sent after this long
	Wait    time.Duration         `json:"wait,omitempty"`   // ping: for an answer
	Told    time.Duration         `json:"told,omitempty"`   // ping: by how much links delay it and its answer, at most
	Apart   time.Duration         `json:"apart,omitempty"`  // ping: how long nothing is sent before each; 0: back to back
	Halves  bool                  `json:"halves,omitempty"` // ping: the pairs have no common clock; half a round trip counts
	At      int64                 `json:"at,omitempty"`     // begin: when, ns on the host's clock
	Arrives []Arrival             `json:"arrives,omitempty"`
	Nodes   []dme.NodeID          `json:"nodes,omitempty"` // down, up, seize, free, leave, begin: of these
	Addr    string                `json:"addr,omitempty"`  // up: where it listens
	Life    uint32                `json:"life,omitempty"`  // up: its incarnation
	As      Condition             `json:"as,omitempty"`    // seize: if it is so
	Sides   [][]dme.NodeID        `json:"sides,omitempty"` // cut
	Cut     int                   `json:"cut,omitempty"`   // cut, heal: which
	Chunk   int                   `json:"chunk,omitempty"` // entries, events: which
	Limit   int                   `json:"limit,omitempty"` // states: at most this many
}

// Condition is what a node may be seized for.
type Condition string

// The conditions: it waits for the critical section, neither waits nor is inside,
// or has the token.
const (
	Idle     Condition = "idle"
	Waiting  Condition = "waiting"
	HasToken Condition = "token"
)

// Assignment is a worker's part of a run.
type Assignment struct {
	Spec   runs.Spec               `json:"spec"`
	Files  map[string][]byte       `json:"files,omitempty"` // what the spec's file options name
	Local  []dme.NodeID            `json:"local"`
	Listen string                  `json:"listen"`
	Key    [transport.KeySize]byte `json:"key"`
	Broker *nats.Broker            `json:"broker,omitempty"` // of a brokered network; without a URL it is the control plane's

	Servers  []string  `json:"servers,omitempty"`  // where those of a lock service are reached
	Resource *Resource `json:"resource,omitempty"` // what critical sections share, if they share something

	Incarnation  uint32                `json:"incarnation"`            // of the worker: 1 if it is the first of its nodes
	Incarnations map[dme.NodeID]uint32 `json:"incarnations,omitempty"` // of the others if they are not 1, by their first nodes
	Absent       []dme.NodeID          `json:"absent,omitempty"`       // nodes that are not there
	Joins        bool                  `json:"joins,omitempty"`        // its nodes are to join the system, which goes on already
	Tolerant     bool                  `json:"tolerant,omitempty"`     // others may be lost, and the run goes on

	// Lease is for how long the worker may go on without hearing its coordinator itself;
	// 0 for any time.
	Lease time.Duration `json:"lease,omitempty"`

	LogLimit  int     `json:"log_limit"`        // records kept by this worker
	Record    int     `json:"record,omitempty"` // events to record of each node; 0: none
	SpinShare float64 `json:"spin_share"`       // of one core, for punctual arrivals
}

// Resource says where the shared resource of a run is.
type Resource struct {
	Bucket string       `json:"bucket"`
	Broker *nats.Broker `json:"broker,omitempty"` // nil for that of the control plane
}

// Arrival is a request of a local node at a time on the host's clock.
type Arrival struct {
	Node dme.NodeID `json:"node"`
	At   int64      `json:"at"`
}

// Reply is a member's answer.
type Reply struct {
	Error    string              `json:"error,omitempty"`
	Worker   int                 `json:"worker"`
	Addr     string              `json:"addr,omitempty"`     // assign: of its transport
	Edges    [][2]uint32         `json:"edges,omitempty"`    // assign: some ordered pairs that will talk, for pings
	Delays   []int64             `json:"delays,omitempty"`   // ping: one-way, ns
	Seized   bool                `json:"seized,omitempty"`   // seize: whether it was as asked
	Lost     int                 `json:"lost,omitempty"`     // ping: how many were not answered
	Wire     *transport.Counters `json:"wire,omitempty"`     // report: since begin
	Warnings []string            `json:"warnings,omitempty"` // report: of the transport
	Clocks   *clock.Change       `json:"clocks,omitempty"`   // report: of the host, since begin
	Procs    int                 `json:"procs,omitempty"`    // report: GOMAXPROCS of the worker
	Misread  time.Duration       `json:"misread,omitempty"`  // report: how far the worker's clock may be from its host's
	Lapses   []clock.Lapse       `json:"lapses,omitempty"`   // report: when the worker did not run, since begin
	Unserved uint64              `json:"unserved,omitempty"`
	Dropped  uint64              `json:"dropped,omitempty"` // report: records beyond the limit
	Chunks   int                 `json:"chunks,omitempty"`  // report, fence: how many chunks of records there are
	Left     []Left              `json:"left,omitempty"`    // fence: of each node
	Refusals []string            `json:"refusals,omitempty"`
	Failed   uint64              `json:"failed,omitempty"`  // report: calls of Lock that a service has answered with an error
	Expired  uint64              `json:"expired,omitempty"` // report: locks that were lost while they were held
	Types    []string            `json:"types,omitempty"`   // report: what kinds 1, 2, … of messages are called, if the nodes decide that
	States   []string            `json:"states,omitempty"`
	Waits    *stall.Standstill   `json:"waits,omitempty"`    // states: what your nodes wait for
	Traffic  []Traffic           `json:"traffic,omitempty"`  // traffic: of your nodes with those that they have to do with
	Recorded []Recorded          `json:"recorded,omitempty"` // report: what was recorded of each node
	Entries  []byte              `json:"-"`                  // entries, events: in their binary form
}

// Traffic counts the messages that a node has sent to another and had from it, since both
// are there, modulo 2³².
type Traffic struct {
	Peer dme.NodeID `json:"peer"`
	Sent uint32     `json:"sent"`
	Came uint32     `json:"came"`
}

// Left is what a node leaves behind that does nothing any more.
type Left struct {
	Node    dme.NodeID            `json:"node"`
	Counts  noderun.Counts        `json:"counts"`
	Traffic noderun.TrafficCounts `json:"traffic"`
	Entered int64                 `json:"entered"` // when it last entered, ns on the host's clock
}

type Recorded struct {
	Node    dme.NodeID `json:"node"`
	Chunks  int        `json:"chunks"`
	Dropped uint64     `json:"dropped"` // events that found no room
	Until   int64      `json:"until"`   // the first of them, ns on the host's clock
}

// Event is what a member says unasked.
type Event struct {
	Worker int    `json:"worker"`
	Joined bool   `json:"joined,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Fatal  string `json:"fatal,omitempty"` // why the run cannot go on
	Peer   uint32 `json:"peer,omitempty"`  // a node that cannot be reached any more
}
