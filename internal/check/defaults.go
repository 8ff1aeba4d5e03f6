package check

import (
	"maps"

	"dmebench/dme"
)

// Links say how bad links are.
type Links struct {
	Unordered bool // they need not keep order
	Duplicate bool // any message may arrive twice
	Lose      int  // as many messages may be lost
}

// bearableLosses is how many messages are lost where an algorithm bears the loss of
// any: of two, the second may be what was sent again because of the first.
const bearableLosses = 2

// Weakest returns the worst links that an algorithm with these needs declares it can
// bear. A fault that better links hide is found on them, and what holds on them holds
// on better ones: each schedule of those is one of theirs.
func Weakest(needs dme.Needs) Links {
	if needs.SequencedBroadcast { // links that spoil the order of messages give broadcasts none
		return Links{}
	}
	l := Links{Unordered: !needs.FIFO}
	if !needs.Reliable {
		l.Duplicate, l.Lose = true, bearableLosses
	}
	return l
}

// requestsEach is how many requests there are for each node in a random schedule.
const requestsEach = 5

// Defaults returns the options with which random schedules of an algorithm are searched
// where nobody asks for others: on the worst links that it bears, with requests that grow
// with the number of nodes and vary from schedule to schedule, and overtaking watched.
// Options of the algorithm that are wrong have links of their own: [New] refuses them.
func Defaults(a *dme.Algorithm, nodes int, set map[string]string) Options {
	o := Options{Nodes: nodes, Requests: max(1, requestsEach*nodes), Set: set, Vary: true, Watch: true}
	if opt, err := a.Resolve(set); err == nil {
		o.setLinks(Weakest(a.Needs(opt)))
	}
	return o
}

// Settings returns the settings of an algorithm that are searched where a user asks for
// set: that alone or, where the algorithm names others that do not contradict it
// ([dme.Algorithm.Searched]), set with its defaults for their options, and those.
func Settings(a *dme.Algorithm, nodes int, set map[string]string) []map[string]string {
	first := maps.Clone(set)
	var others []map[string]string
	for _, also := range a.Searched {
		one := maps.Clone(also)
		maps.Copy(one, set)
		if opt, err := a.Resolve(one); err != nil || a.CheckNodes(nodes, opt) != nil || !maps.Equal(one, merged(set, also)) {
			continue
		}
		others = append(others, one)
		for _, o := range a.Options {
			if _, ok := also[o.Name]; ok {
				first = merged(map[string]string{o.Name: o.Default}, first)
			}
		}
	}
	return append([]map[string]string{first}, others...)
}

// merged returns a with b's values where both have one.
func merged(a, b map[string]string) map[string]string {
	all := make(map[string]string, len(a)+len(b))
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func (o *Options) setLinks(l Links) {
	o.Unordered, o.Duplicate, o.Lose = l.Unordered, l.Duplicate, l.Lose
}
