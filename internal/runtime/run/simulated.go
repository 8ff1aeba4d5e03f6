package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// delayOption is what the simulated network calls the distribution of its
// delays, and package link what it adds to a frame's.
const delayOption = "delay"

const gaugesOption = "gauges"

// Gauged reports whether the algorithm's gauges are to be read: [dme.Algorithm.Gauges].
func (j *Job) Gauged() bool { return j.NetOptions[gaugesOption] == "on" }

// simulated is the network sim. Its links can be made worse as those of real
// networks can, except that their delay is its own.
func simulated() Network {
	return Network{
		Name: runs.Sim, Help: "virtual time in one process, deterministic in the seed",
		Options: slices.Concat([]dme.Option{
			{Name: "t", Default: "1ms", Forms: []string{"DURATION"}, Valid: dme.Valid(dme.Lasting(1, maxDelay)),
				Help: "T, the mean delay of a message"},
			{Name: delayOption, Default: "constant", Valid: validShape,
				Words: []string{"constant", "uniform", "exponential"}, Forms: []string{"pareto:INDEX"},
				Help: "how delays are distributed; uniform is from T/2 to 3T/2; " +
					"pareto has a tail, the heavier the nearer its index is to 1"},
			{Name: "fifo", Default: "true", Words: []string{"true", "false"},
				Help: "whether messages of one pair of nodes keep their order"},
			{Name: gaugesOption, Default: "off", Words: []string{"off", "on"},
				Help: "whether to measure quantities of claims that need a look at all nodes; " +
					"it slows the simulation down"},
		}, slices.DeleteFunc(link.Options(), func(o dme.Option) bool { return o.Name == delayOption })),
		Links: simulatedLinks,
		Guarantees: func(o dme.Options) transport.Guarantees {
			links := simulatedLinks(o)
			_, bounded := longestSimulated(o)
			return links.Guarantees(transport.Guarantees{
				Reliable:     true,
				FIFO:         o.Get("fifo") == "true" || o.Get(delayOption) == "constant",
				BoundedDelay: bounded,
				// A broadcast is one transmission, and the simulator puts
				// them into one order for an algorithm that needs it.
				Broadcast:          true,
				SequencedBroadcast: true,
			})
		},
	}
}

func linkOptions(o dme.Options) dme.Options {
	o = maps.Clone(o)
	o[delayOption] = "0"
	return o
}

func simulatedLinks(o dme.Options) link.Config { return conditions(linkOptions(o)) }

// simulatedT returns the mean delay of a message in a simulation, without what its links add.
func simulatedT(o dme.Options) time.Duration {
	t, err := time.ParseDuration(o.Get("t"))
	if err != nil {
		panic("run: t=" + o.Get("t") + " was accepted") // the option is checked
	}
	return t
}

// longestSimulated returns the longest delay of a message in a simulation; there is none if delays
// have a tail.
func longestSimulated(o dme.Options) (longest time.Duration, exists bool) {
	t := simulatedT(o)
	links := simulatedLinks(o)
	more, bounded := links.Longest()
	if !bounded {
		return 0, false
	}
	switch o.Get(delayOption) {
	case "constant":
		return t + more, true
	case "uniform":
		return t + t/2 + more, true
	}
	return 0, false
}

// ParetoIndex reads the tail index of a simulated delay; ok is false if the delay is not pareto.
func ParetoIndex(delay string) (index float64, ok bool) {
	text, ok := strings.CutPrefix(delay, "pareto:")
	if !ok {
		return 0, false
	}
	index, err := strconv.ParseFloat(text, 64)
	return index, err == nil && index > 1 && index <= 1000
}

func validShape(s string) error {
	switch s {
	case "constant", "uniform", "exponential":
		return nil
	}
	if _, ok := ParetoIndex(s); ok {
		return nil
	}
	if strings.HasPrefix(s, "pareto") {
		return errors.New("not an index above 1, such as pareto:1.5, and at most 1000; at 1 the mean is infinite")
	}
	if _, err := dme.ParseDuration(s); err == nil {
		return fmt.Errorf("a simulation's delay says how times are distributed; write t=%s for how long a message takes", s)
	}
	return errors.New("no such distribution")
}

// maxDelay bounds T, so that a long run's virtual time stays within 64 bits of
// nanoseconds.
const maxDelay = time.Hour

// Bound returns the longest time that a message takes, as nodes know it: what the user vouches for,
// or else what a simulated network keeps to; 0 if it is unknown.
func (j *Job) Bound() time.Duration {
	if bound, vouched := j.vouchedBound(); vouched {
		return bound
	}
	return j.networkBound()
}

// checkFaults refuses faults that cannot be carried out on the job's system, and
// has it prepared for nodes that join later.
func (j *Job) checkFaults() error {
	if len(j.Faults) == 0 {
		return nil
	}
	if err := j.Faults.Check(j.Algorithm, j.System, j.Spec.Nodes); err != nil {
		return err
	}
	if j.Network.Real() {
		if err := j.checkProcesses(); err != nil {
			return err
		}
	}
	if j.Needs.SequencedBroadcast {
		return fmt.Errorf("faults: what becomes of a sequenced broadcast when a node fails is not defined; "+
			"choose other options of %s", j.Algorithm.Name)
	}
	if j.absent = j.Faults.Absent(); j.absent != nil {
		return j.prepare()
	}
	return nil
}

// ToleratesLoss reports whether a run over a real network can go on without the nodes of a
// process that is lost: its algorithm is made for that.
func (j *Job) ToleratesLoss() bool {
	return j.Network.Real() && j.Algorithm.Survives != nil && j.Spec.NodesPerWorker == 1 && !j.Needs.SequencedBroadcast
}

func (j *Job) checkProcesses() error {
	partition := func(f fault.Fault) bool { return f.Kind == fault.Partition }
	if i := slices.IndexFunc(j.Faults, func(f fault.Fault) bool { return !partition(f) }); i >= 0 && j.Spec.NodesPerWorker > 1 {
		return fmt.Errorf("fault %q: it would hit the whole process, which hosts %d nodes; leave --nodes-per-worker at 1",
			j.Faults[i], j.Spec.NodesPerWorker)
	}
	if i := slices.IndexFunc(j.Faults, partition); i >= 0 && j.NetOptions[MulticastOption] == "true" {
		return fmt.Errorf("fault %q: a partition affects single frames and cannot affect a datagram to all; leave %s=true out",
			j.Faults[i], MulticastOption)
	}
	return nil
}
