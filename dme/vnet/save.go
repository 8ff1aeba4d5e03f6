package vnet

import (
	"cmp"
	"encoding/binary"
	"slices"

	"dmebench/dme"
)

// Save appends everything on which the network's further way depends. Equal
// states give equal bytes, but for what nodes count.
func (n *Network) Save(b []byte) []byte {
	put := func(numbers ...int) {
		for _, x := range numbers {
			b = binary.AppendUvarint(b, uint64(x))
		}
	}
	for id := range n.IDs() {
		p := &n.processes[id]
		put(int(p.activity), flag(p.reads), flag(p.stopped), p.requests)
		b = dme.SaveState(b, n.runners[id].Node())
	}
	letters := n.bySending()
	put(len(letters))
	for _, l := range letters {
		put(int(l.From), int(l.To), flag(l.copied), flag(l.broadcast), l.place, len(l.marks))
		for _, m := range l.marks {
			put(int(m.node), int(m.id), m.hops)
		}
		message := dme.AppendMessage(nil, &l.msg)
		put(len(message))
		b = append(b, message...)
	}
	put(n.common.lose, len(n.common.timers))
	for _, t := range n.common.timers {
		put(int(t.Node), int(t.ID), int(t.Delay))
	}
	return b
}

func flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// bySending returns all messages, in the order of sending.
func (n *Network) bySending() []*letter {
	var all []*letter
	for _, link := range n.occupied {
		for i := range n.links[link].letters {
			all = append(all, &n.links[link].letters[i])
		}
	}
	slices.SortFunc(all, func(x, y *letter) int { return cmp.Compare(x.number, y.number) })
	return all
}
