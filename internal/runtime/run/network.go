package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/foreign"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/nats"
	"dmebench/transport/tcp"
	"dmebench/transport/udp"
	"dmebench/units"
)

// Network is something that a run can run over: a transport between worker
// processes, or the simulated network in virtual time.
type Network struct {
	Name       string
	Help       string
	Options    []dme.Option
	Guarantees func(dme.Options) transport.Guarantees

	// Links says what the options do to the network's links.
	Links func(dme.Options) link.Config

	// Check refuses options that do not go together; nil if all do.
	Check func(dme.Options) error

	// Listen opens the transport in a worker; nil for the simulated network.
	Listen func(Endpoint) (transport.Transport, error)

	// Brokered says that frames pass a broker, which must be there before the
	// workers are.
	Brokered bool

	// Connected says that every pair of processes that talk has connections of
	// its own.
	Connected bool
}

// Endpoint is what a worker's end of a network is opened with.
type Endpoint struct {
	transport.Config
	Options dme.Options // the network's
	Broker  nats.Broker // of a network that is brokered
	Cut     *link.Cut   // partitions that are made while the run goes on; nil if none will be
}

// Networks returns all of them. Callers share the slice, and do not change it.
func Networks() []Network { return networks() }

var networks = sync.OnceValue(func() []Network {
	runtime := dme.Option{
		Name: "gomaxprocs", Default: "0", Forms: []string{"COUNT"}, Valid: dme.Valid(dme.Whole(0, 1024)),
		Help: "GOMAXPROCS of each worker process; 0: 1 if there are as many of them as processors, else as Go chooses",
	}
	return []Network{
		conditioned(overTCP(runtime)),
		overUDP(runtime),
		conditioned(Network{
			Name:       "nats",
			Help:       "NATS: a subject per node, a broadcast is one publication; through a server of the run's own, or any by --nats-url",
			Options:    []dme.Option{runtime},
			Guarantees: func(dme.Options) transport.Guarantees { return nats.Guarantees },
			Listen:     func(e Endpoint) (transport.Transport, error) { return nats.Listen(e.Config, e.Broker) },
			Brokered:   true,
		}),
		simulated(),
	}
})

// TLSOption is the option of network tcp that says which connections are encrypted.
const TLSOption = "tls"

func overTCP(runtime dme.Option) Network {
	words := units.Texts(tcp.Encryptions(), func(e tcp.Encryption) string { return string(e) })
	secure := dme.Option{
		Name: TLSOption, Default: string(tcp.Auto), Words: words,
		Help: "whether connections are encrypted, by TLS 1.3 with keys that follow from the run's; auto: those to a listener beyond the loopback",
	}
	return Network{
		Name: "tcp", Help: "TCP: one connection per ordered pair of processes that talk; encrypted beyond the loopback",
		Options:    []dme.Option{runtime, secure},
		Guarantees: func(dme.Options) transport.Guarantees { return tcp.Guarantees },
		Listen: func(e Endpoint) (transport.Transport, error) {
			return tcp.Listen(e.Config, tcp.Options{Encryption: tcp.Encryption(e.Options.Get(TLSOption))})
		},
		Connected: true,
	}
}

// Options of network udp.
const (
	LayerOption     = "layer"     // what is made of it
	MulticastOption = "multicast" // whether a broadcast is one datagram to all
)

// overUDP is the network udp. The conditions of its links apply beneath the layers that make up for
// them.
func overUDP(runtime dme.Option) Network {
	names := units.Texts(udp.Layers(), func(l udp.Layer) string { return string(l) })
	layer := dme.Option{
		Name: LayerOption, Default: string(udp.FIFO), Words: names,
		Help: "what is added to datagrams: nothing, acknowledgement and retransmission, and order between each pair of nodes",
	}
	multicast := dme.Option{
		Name: MulticastOption, Default: "false", Words: []string{"false", "true"},
		Help: "whether a broadcast is one datagram to an IP multicast group of the processes, " +
			"on the network of the address that they listen at",
	}
	return Network{
		Name: "udp", Help: "UDP: one socket per process; reliability and order are layers; " +
			"layer raw accepts a datagram again when a stranger repeats it",
		Options: append([]dme.Option{runtime, layer, multicast}, link.Options()...),
		Links:   conditions,
		Guarantees: func(o dme.Options) transport.Guarantees {
			l := udp.Layer(o.Get(LayerOption))
			g := udp.GuaranteesOf(l)
			g.Broadcast = o.Get(MulticastOption) == "true"
			if l != udp.Raw {
				return g
			}
			links := conditions(o)
			return links.Guarantees(g)
		},
		Check: func(o dme.Options) error {
			if links := conditions(o); o.Get(MulticastOption) == "true" && !links.Idle() {
				return fmt.Errorf("udp: %s=true: %s affects single frames and cannot affect a datagram to all; leave one of them out",
					MulticastOption, link.Describe(o))
			}
			return nil
		},
		Listen: func(e Endpoint) (transport.Transport, error) {
			opt := udp.Options{Layer: udp.Layer(e.Options.Get(LayerOption))}
			if e.Options.Get(MulticastOption) == "true" {
				opt.Multicast = true
				t, err := udp.Listen(e.Config, opt)
				if err != nil {
					return nil, err
				}
				return udp.Multicasting{Transport: t}, nil
			}
			if links := e.conditions(); !links.Idle() {
				links.LargestFrame = udp.LargestFrame(udp.Raw)
				opt.Between = func(t transport.Transport) transport.Transport { return link.Wrap(t, links) }
			}
			return udp.Listen(e.Config, opt)
		},
	}
}

// conditioned gives a network the options of package link, whose conditions lie
// above what it guarantees.
func conditioned(n Network) Network {
	n.Options = append(slices.Clip(n.Options), link.Options()...)
	n.Links = conditions
	guarantees, listen := n.Guarantees, n.Listen
	n.Guarantees = func(o dme.Options) transport.Guarantees {
		links := conditions(o)
		return links.Guarantees(guarantees(o))
	}
	n.Listen = func(e Endpoint) (transport.Transport, error) {
		t, err := listen(e)
		links := e.conditions()
		if err != nil || links.Idle() {
			return t, err
		}
		return link.Wrap(t, links), nil
	}
	return n
}

// conditions is what the options of a real network say of its links.
func conditions(o dme.Options) link.Config {
	links, err := link.Parse(o)
	if err != nil {
		panic("run: " + err.Error() + " was accepted") // the options are checked
	}
	return links
}

// conditions is what is done to the links of an endpoint.
func (e *Endpoint) conditions() link.Config {
	links := conditions(e.Options)
	links.Cut = e.Cut
	return links
}

// Real reports whether the network has worker processes.
func (n Network) Real() bool { return n.Listen != nil }

// Describe names the network with the options that decide what it guarantees.
func (n Network) Describe(o dme.Options) string {
	var words []string
	if n.Real() {
		if layer, ok := o[LayerOption]; ok {
			words = append(words, LayerOption+"="+layer)
		}
		if o[MulticastOption] == "true" {
			words = append(words, MulticastOption+"=true")
		}
	} else {
		words = append(words, delayOption+"="+o.Get(delayOption), "fifo="+o.Get("fifo"))
		o = linkOptions(o)
	}
	if links := link.Describe(o); links != "" {
		words = append(words, links)
	}
	if words == nil {
		return n.Name
	}
	return n.Name + " with " + strings.Join(words, " ")
}

// LookupNetwork returns the network of that name.
func LookupNetwork(name string) (Network, error) {
	return units.Lookup("transport", name, Networks(), func(n Network) string { return n.Name })
}

// Resources lists the shared resources that critical sections can use.
func Resources() []string { return []string{record.InNATS, record.InMemory} }

// checkResource refuses a shared resource that is not there, and a server in virtual time,
// which answers in real time.
func (j *Job) checkResource() error {
	switch {
	case j.Spec.Resource == "":
		return nil
	case !slices.Contains(Resources(), j.Spec.Resource):
		return units.UnknownName("resource", j.Spec.Resource, Resources(), "there is "+strings.Join(Resources(), ", "))
	case !j.Network.Real() && j.Spec.Resource == record.InNATS:
		return &CannotRun{
			Resource: true,
			Why:      fmt.Errorf("resource %s is for real networks: %s runs in virtual time", j.Spec.Resource, j.Network.Name),
			advice:   "choose --resource memory, or leave it out: a simulation sees every overlap by itself",
		}
	}
	return nil
}

// Setting is what predictions for the job's run depend on, but for T: that is
// known of a simulation, and measured in a network.
func (j *Job) Setting() dme.Setting {
	return dme.Setting{
		Algorithm: j.Algorithm,
		Nodes:     j.Spec.Nodes, Options: j.Options, System: j.System,
		E: j.Plan.MeanHold(), Rate: j.Plan.OfferedRate(), Variability: j.Plan.HoldVariability(),
	}
}

// checkOwnTime refuses networks for what takes its own time: nodes in other languages, and lock
// services, whose clients and servers talk by connections of their own.
func (j *Job) checkOwnTime() error {
	cannot := func(advice, why string, args ...any) error {
		return &CannotRun{Why: fmt.Errorf("%s: %w", j.Algorithm.Name, fmt.Errorf(why, args...)), advice: advice}
	}
	service, links := j.Algorithm.Class == dme.Service, j.Links()
	longer := links.All.Delay.Shape == link.Constant // and nothing else happens on them
	links.All.Delay = link.Delay{}
	switch {
	case foreign.Is(j.Algorithm.Name) && !j.Network.Real():
		return cannot("choose --transport tcp, udp or nats", "nodes in other languages are processes that take their own time; "+
			"%s runs in virtual time, which only nodes of this program can follow", j.Network.Name)
	case service && j.Network.Name != "tcp":
		return cannot("choose --transport tcp",
			"the clients of a lock service have connections of their own, over TCP and in real time, not over %s", j.Network.Name)
	case service && !(longer && links.Idle()):
		return cannot("", "the connections of a lock service can be made longer, by delay=DURATION, and nothing else")
	}
	return nil
}
