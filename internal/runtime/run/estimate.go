package run

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/foreign"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload"
)

// Estimate is what a run is going to need of its host, approximately, before anything is started.
// It leaves out what grows in the course of a run, such as queues that are not served.
type Estimate struct {
	what  string // is run, for errors
	nodes int

	Workers     int    // processes beside this one; 0 in a simulation
	Threads     uint64 // of all processes
	Descriptors uint64 // of the process that has the most
	Memory      uint64 // bytes, of all processes
	Connections uint64 // between processes, each counted once
	RequestSet  uint64 // messages that a first request makes: K, without the node itself

	Time time.Duration // of a simulation of that many requests; 0 if their number is not given, or no claim says what an entry takes
}

// Costs, measured on Linux with Go 1.26; the messages and entries of a simulation with
// the room that its collector leaves, and of its time a node, an entry, and a message, which takes
// longer if the nodes do not fit into caches.
const (
	workerMemory   = 4 << 20 // of a worker's own, without what it shares with the others
	workerThreads  = 7       // one more than are seen, for a call that blocks
	ownThreads     = 12      // of the coordinator, and one for each worker, to wait for its end
	ownDescriptors = 14      // of any process
	perWorker      = 4       // descriptors of the coordinator: two pipes, the process, the control plane
	socketMemory   = 4 << 10

	interpreterMemory = 16 << 20 // of a node in another language: of its own, a Python interpreter takes 9 MiB and Node.js 30

	simulatedNode  = 650
	simulatedEntry = 100
	messageMemory  = 150

	nodeTime       = 1500 // ns
	entryTime      = 1200
	messageTime    = 100
	farMessageTime = 300 // more, with manyNodes or above
	manyNodes      = 100_000
)

// smallNodes is the size up to which a simulation fits anywhere.
const smallNodes = 256

// EstimateOf estimates what a run of the spec needs. For a specification that cannot be resolved it
// is the zero estimate, since nothing will be started.
//
// Algorithms do not declare how much memory they take: the system is made with fewer nodes, twice,
// measured, and extrapolated.
func EstimateOf(s runs.Spec, c Catalog, readFile func(string) ([]byte, error)) Estimate {
	j, err := outline(s, c, readFile)
	if err != nil {
		return Estimate{}
	}
	e := Estimate{what: fmt.Sprintf("%s on %d nodes over %s", j.Algorithm.Name, j.Spec.Nodes, j.Network.Name), nodes: j.Spec.Nodes}
	if j.Algorithm.CheckNodes(j.Spec.Nodes, j.Options) != nil {
		return Estimate{}
	}
	nodes := j.measured()
	if !j.Network.Real() {
		n, messages := float64(j.Spec.Nodes), messageTime+farMessageTime*min(1, float64(j.Spec.Nodes)/manyNodes)
		if nodes.entry > 0 && j.Spec.Requests > 0 {
			e.Time = time.Duration(whole(n*nodeTime + float64(j.Spec.Requests)*(entryTime+nodes.entry*messages)))
		}
		if j.Spec.Nodes <= smallNodes {
			return e
		}
	}
	e.RequestSet = whole(min(nodes.messages, float64(j.Spec.Nodes-1)))
	if j.Network.Real() {
		e.real(j, nodes)
	} else {
		e.simulated(j, nodes)
	}
	return e
}

func (e *Estimate) real(j *Job, nodes footprint) {
	per := j.Spec.NodesPerWorker
	e.Workers = (j.Spec.Nodes + per - 1) / per
	w := float64(e.Workers)
	e.Threads = uint64(ownThreads + e.Workers*(1+workerThreads))
	e.Descriptors = uint64(ownDescriptors + perWorker*e.Workers)
	if j.Network.Brokered {
		e.Descriptors += uint64(e.Workers)
	}
	if j.Spec.Resource != "" {
		e.Descriptors += uint64(e.Workers)
	}
	memory := w*(workerMemory+nodes.system) + float64(j.Spec.Nodes)*nodes.each
	if foreign.Is(j.Algorithm.Name) {
		memory += float64(j.Spec.Nodes) * interpreterMemory
		e.Descriptors = max(e.Descriptors, uint64(ownDescriptors+6*per))
		e.Threads += uint64(j.Spec.Nodes)
	}
	if j.Network.Connected {
		peers := min(w-1, float64(e.RequestSet)*float64(per))
		e.Connections = whole(w * peers)
		e.Descriptors = max(e.Descriptors, whole(ownDescriptors+2*peers)) // to each of them, and from it
		memory += w * 2 * peers * socketMemory
	}
	e.Memory = whole(memory)
}

func (e *Estimate) simulated(j *Job, nodes footprint) {
	n := float64(j.Spec.Nodes)
	asking := 1.0
	if j.kind.Drive == workload.Closed || j.Spec.Workload == "burst" {
		asking = n // at once, at the beginning
		if j.Spec.Requests > 0 {
			asking = min(asking, float64(j.Spec.Requests))
		}
	}
	entries := min(float64(j.Spec.Requests), 8<<20)
	e.Memory = whole(nodes.system + n*(nodes.each+simulatedNode) + asking*float64(e.RequestSet)*messageMemory + entries*simulatedEntry)
}

func whole(x float64) uint64 { return uint64(min(math.Ceil(x), 1<<62)) }

type footprint struct {
	system   float64 // bytes that all nodes share
	each     float64 // bytes of a node
	messages float64 // of its first request, on average
	entry    float64 // messages of an entry, by the claims
}

// sampleNodes is the size of the systems that are made to find out, at most. It
// takes some milliseconds.
const sampleNodes = 1000

// sampleRequests is of how many of them the first request is looked at.
const sampleRequests = 64

// measured returns the footprint of the job's nodes, zero if it cannot be found out. It is a line
// through two smaller systems, on paper with logarithmic scales; a system that is small is made as
// it is.
func (j *Job) measured() footprint {
	n := j.fitting(min(j.Spec.Nodes, sampleNodes))
	large, err := j.sample(n)
	if err != nil || n == j.Spec.Nodes {
		return large
	}
	m := j.fitting(n / 2)
	small, err := j.sample(m)
	if err != nil {
		return large
	}
	extend := func(small, large float64, most float64) float64 {
		if small <= 0 || large <= small {
			return large
		}
		exponent := min(math.Log(large/small)/math.Log(float64(n)/float64(m)), most)
		return large * math.Pow(float64(j.Spec.Nodes)/float64(n), exponent)
	}
	return footprint{
		system: extend(small.system, large.system, 2), each: extend(small.each, large.each, 2),
		messages: extend(small.messages, large.messages, 1), entry: extend(small.entry, large.entry, 1),
	}
}

// fitting returns the largest number of nodes, up to n, for which the algorithm exists with the
// job's options; 0 if there is none near.
func (j *Job) fitting(n int) int {
	for least := n / 2; n > least; n-- {
		if j.Algorithm.CheckNodes(n, j.Options) == nil {
			return n
		}
	}
	return 0
}

// sample makes a system of n nodes, and a request of some of them. An error in it will occur
// again in the run, and is reported there.
func (j *Job) sample(n int) (f footprint, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			f, err = footprint{}, fmt.Errorf("run: %v", fault)
		}
	}()
	measured := j.Spec.Nodes > sampleNodes // else it is next to nothing
	var before, shared, all uint64
	heap := func(size *uint64) {
		if !measured {
			return
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		*size = m.HeapAlloc
	}
	heap(&before)
	system, err := j.Algorithm.Prepare(dme.Config{
		Nodes: n, Seed: j.Spec.Seed, Options: j.Options, Bound: j.networkBound(), ReadFile: j.readFile,
	})
	if err != nil {
		return f, err
	}
	heap(&shared)
	nodes := make([]dme.Node, n)
	for i := range nodes {
		nodes[i] = system.Node(dme.NodeID(i + 1))
	}
	heap(&all)
	f.system = max(0, float64(shared)-float64(before))
	f.each = max(0, float64(all)-float64(shared)) / float64(n)
	asked := min(n, sampleRequests)
	for k := range asked {
		f.messages += float64(messagesOfRequest(nodes[(k+1)*n/asked-1], n)) / float64(asked)
	}
	load := claim.Light
	if j.kind.Drive == workload.Closed {
		load = claim.Saturated
	}
	f.entry = claim.PerEntry(j.Algorithm, dme.Setting{Algorithm: j.Algorithm, Nodes: n, Options: j.Options, System: system}, load)
	runtime.KeepAlive(system)
	return f, nil
}

func messagesOfRequest(node dme.Node, n int) (messages int) {
	var out dme.Outbox
	if s, ok := node.(dme.Starter); ok {
		s.Start(&out)
		out.Reset()
	}
	node.Request(&out)
	for _, e := range out.Effects() {
		switch e.Kind {
		case dme.Send:
			messages++
		case dme.Broadcast:
			messages += n - 1
		}
	}
	return messages
}

func (e Estimate) String() string {
	text := "about " + units.Bytes(e.Memory) + " of memory"
	switch {
	case e.Time > 0 && e.Memory == 0:
		return "about " + e.Time.Round(time.Second).String()
	case e.Time > 0:
		text += " and " + e.Time.Round(time.Second).String()
	}
	if e.Workers > 0 {
		text = fmt.Sprintf("%d processes with %d threads, up to %d descriptors in one of them, and %s",
			e.Workers+1, e.Threads, e.Descriptors, text)
	}
	return text
}

// ErrTooLarge is the error for a run that the host has no room for.
var ErrTooLarge = errors.New("the host has no room for it")

// Check refuses a run that needs more than there is, and says all that is too
// little, and what to do.
func (e Estimate) Check(l environment.Limits) error {
	var lacks []string
	advice := "choose fewer nodes"
	if e.Workers > 1 {
		advice += " or more --nodes-per-worker"
	}
	count := func(n uint64) string { return fmt.Sprint(n) }
	for _, x := range []struct {
		need      uint64
		left      environment.Limit
		text      func(uint64) string
		what, how string
	}{
		{e.Memory, l.Memory, units.Bytes, "of memory", ""},
		{e.Threads, l.Threads, count, "threads", ", raise the limit on threads (ulimit -u, " + l.Threads.By + ")"},
		{e.Descriptors, l.Descriptors, count, "descriptors in one process",
			fmt.Sprintf(", raise the limit on descriptors (ulimit -n %d)", e.Descriptors)},
	} {
		if x.need > x.left.Left {
			lacks = append(lacks, fmt.Sprintf("%s %s (left: %s, %s)", x.text(x.need), x.what, x.text(x.left.Left), x.left.By))
			advice += x.how
		}
	}
	if lacks == nil {
		return nil
	}
	force := "or go on with --force"
	if e.Hopeless(l) {
		force = "which --force cannot exceed"
	}
	return fmt.Errorf("%w: %s needs about %s; %s, %s",
		ErrTooLarge, e.what, strings.Join(lacks, ", and "), advice, force)
}

// Hopeless reports whether a run wants more threads than there are left. For threads the estimate
// is good, and the Go runtime ends a process that cannot have one on the spot, with all its stacks:
// such a run yields nothing.
func (e Estimate) Hopeless(l environment.Limits) bool { return e.Threads > l.Threads.Left }

// throng is how many processes per processor are certainly a mistake: they would keep the host busy
// for long before the first of them enters.
const throng = 500

// CheckProcesses refuses a run of more processes than its processors can be expected to carry,
// whatever memory there is.
func (e Estimate) CheckProcesses(processors int) error {
	most := throng * processors
	if e.Workers <= most {
		return nil
	}
	return fmt.Errorf("%w: %s needs %d processes, more than %d for each of %d processors; "+
		"choose fewer nodes, more of them in a process (--nodes-per-worker %d), --transport sim, or go on with --force",
		ErrTooLarge, e.what, e.Workers, throng, processors, (e.nodes+most-1)/most)
}

// crowd is how many processes for each processor are worth a word.
const crowd = 100

// Crowded reports whether there are so many processes for each processor that times
// say more about the machine than about the algorithm.
func (e Estimate) Crowded(processors int) bool { return e.Workers > crowd*processors }
