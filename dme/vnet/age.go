package vnet

// Sent returns how many messages have been sent, news of nodes included: the number of
// the last.
func (n *Network) Sent() uint64 { return n.sent }

// Number returns the number of the message, or of the news, that arrives or is lost in
// a step, which must be possible. They are numbered from 1 in the order of sending.
func (n *Network) Number(x Step) uint64 {
	return n.links[n.link(x.From, x.Node)].messages[x.Index].number
}
