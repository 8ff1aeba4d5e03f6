package nats

import (
	"strings"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// topology says which process hosts each node, and by which subject to reach it.
type topology struct {
	*peers.Topology[peer]
	subjects []string // by node: where its frames go; those for all under dme.None
}

type process = peers.Process[peer]

// peer is what is known of a process.
type peer struct {
	out window // frames to it
	in  inflow // frames from it
}

// What stands behind the prefix in subjects.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

func newTopology(book transport.AddressBook, c *transport.Config, prefix string, sequenced bool) (*topology, error) {
	processes, err := peers.NewTopology[peer]("nats", book, c)
	if err != nil {
		return nil, err
	}
	via := prefix
	if sequenced {
		via += relay
	}
	top := &topology{processes, []string{dme.None: via + toAll}}
	for i, addr := range book {
		subject := addr + "." + dme.NodeID(i+1).String()
		if rest, ours := strings.CutPrefix(subject, prefix); ours {
			subject = via + rest
		}
		top.subjects = append(top.subjects, subject)
	}
	return top, nil
}
