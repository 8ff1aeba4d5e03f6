package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
	"dmebench/transport/nats"
	"dmebench/transport/tcp"
)

// Sim is the name of the simulated network; every other one is real.
const Sim = "sim"

// Network is something that a run can run over: a transport between worker
// processes, or the simulated network in virtual time.
type Network struct {
	Name       string
	Help       string
	Options    []algorithms.Option
	Guarantees func(algorithms.Options) transport.Guarantees

	// Listen opens the transport in a worker; nil for the simulated network.
	Listen func(transport.Config) (transport.Transport, error)

	// ListenVia is Listen where frames pass a broker; nil elsewhere.
	ListenVia func(transport.Config, nats.Broker) (transport.Transport, error)
}

// Networks lists them all.
func Networks() []Network {
	runtime := algorithms.Option{
		Name: "gomaxprocs", Default: "0", Values: "COUNT", Valid: validProcs,
		Help: "GOMAXPROCS of each worker process; 0 leaves it to the Go runtime",
	}
	return []Network{
		{
			Name: "tcp", Help: "TCP: one connection per ordered pair of processes that talk",
			Options:    []algorithms.Option{runtime},
			Guarantees: func(algorithms.Options) transport.Guarantees { return tcp.Guarantees },
			Listen:     func(c transport.Config) (transport.Transport, error) { return tcp.Listen(c) },
		},
		{
			Name: "nats", Help: "NATS: a subject per node, a broadcast is one publication; through a server of the run's own, or any by --nats-url",
			Options:    []algorithms.Option{runtime},
			Guarantees: func(algorithms.Options) transport.Guarantees { return nats.Guarantees },
			ListenVia:  func(c transport.Config, b nats.Broker) (transport.Transport, error) { return nats.Listen(c, b) },
		},
		{
			Name: Sim, Help: "virtual time in one process, deterministic in the seed",
			Options: []algorithms.Option{
				{Name: "t", Default: "1ms", Values: "DURATION", Valid: validDelay,
					Help: "T, the mean delay of a message"},
				{Name: "delay", Default: "constant", Values: "constant|uniform|exponential",
					Help: "how delays are distributed; uniform is from T/2 to 3T/2"},
				{Name: "fifo", Default: "true", Values: "true|false",
					Help: "whether messages of one pair of nodes keep their order"},
			},
			Guarantees: func(o algorithms.Options) transport.Guarantees {
				return transport.Guarantees{
					Reliable: true,
					FIFO:     o.Get("fifo") == "true" || o.Get("delay") == "constant",
					// An exponential delay has no bound; the others do.
					BoundedDelay: o.Get("delay") != "exponential",
					// A broadcast is one transmission, and the simulator puts
					// them into one order for an algorithm that needs it.
					Broadcast:          true,
					SequencedBroadcast: true,
				}
			},
		},
	}
}

// Real reports whether the network has worker processes.
func (n Network) Real() bool { return n.Listen != nil || n.Brokered() }

// Brokered reports whether frames pass a broker, which must be there before the
// workers are.
func (n Network) Brokered() bool { return n.ListenVia != nil }

// Describe names the network with the options that decide what it guarantees.
func (n Network) Describe(o algorithms.Options) string {
	if n.Real() {
		return n.Name
	}
	return fmt.Sprintf("%s with delay=%s fifo=%s", n.Name, o.Get("delay"), o.Get("fifo"))
}

// LookupNetwork returns the network of that name.
func LookupNetwork(name string) (Network, error) {
	all := Networks()
	i := slices.IndexFunc(all, func(n Network) bool { return n.Name == name })
	if i < 0 {
		var names []string
		for _, n := range all {
			names = append(names, n.Name)
		}
		return Network{}, fmt.Errorf("unknown transport %q; there are %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// maxDelay bounds T, so that a long run's virtual time stays within 64 bits of
// nanoseconds.
const maxDelay = time.Hour

func validDelay(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d <= 0 || d > maxDelay {
		return fmt.Errorf("not a duration above 0 and at most %v", maxDelay)
	}
	return nil
}

func validProcs(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 0 || n > 1024 {
		return errors.New("not a number from 0 to 1024")
	}
	return nil
}
