// Package suzukikasami is the broadcast algorithm of I. Suzuki and T. Kasami, A Distributed Mutual
// Exclusion Algorithm, ACM Transactions on Computer Systems 3(4), 1985, as the textbook
// (Kshemkalyani and Singhal, Distributed Computing, chapter 9) gives it in section 9.11, Algorithm
// 9.7.
//
// One token exists; the site that has it may enter. RN_i[j] is the largest number of a request by j
// that i has heard of. The token carries LN, where LN[j] is the number of j's request that was
// executed last, and Q, the queue of the sites that it will visit.
//
//   - (a) A requesting site without the token increments RN_i[i] and sends REQUEST(i, RN_i[i]) to
//     all others.
//   - (b) A site that receives it raises RN_j[i]. If it has the idle token and RN_j[i] = LN[i] + 1,
//     it sends the token to i.
//   - (c) A site executes the CS after it has received the token, or at once if it has the idle
//     token.
//   - (d) Leaving, it sets LN[i] to RN_i[i],
//   - (e) appends to Q every site j that is not in Q and for which RN_i[j] = LN[j] + 1, in the
//     order of their numbers,
//   - (f) and sends the token to the site at the head of Q, if there is one.
//
// Departures from the printed text:
//
//   - Steps (b) and (e) print LN[j] where the requester's element LN[i] is meant in (b); with the
//     index as printed, requests are lost.
//   - The explanation calls a request outdated if RN_i[j] > n. That misses a request that has been
//     executed already and would send the token to a site that does not want it. The rule RN = LN +
//     1 alone decides.
//
// The token is at site 1 at the beginning, and idle. Links need not keep order: numbers tell
// outdated requests from current ones. Loss and duplication are not tolerated.
package suzukikasami

import (
	"errors"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: sn
	kindToken                       // Vec: LN[1..N], then Q
)

// Algorithm describes the algorithm of Suzuki and Kasami.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "suzuki-kasami",
		Title: "Suzuki–Kasami",
		Description: "One token, and every request goes to all nodes, as in Ricart and Agrawala's token algorithm; but the token carries a " +
			"queue, in which requests are served in the order in which they became known to its holders. An entry costs N messages, " +
			"or none at the node that has the token already, and a handover takes one delay. Simple and quick for tens of nodes; a " +
			"request still disturbs every node, and the loss of the token stops everything.",
		Citation:   "I. Suzuki, T. Kasami: A Distributed Mutual Exclusion Algorithm, ACM TOCS 3(4), 1985; textbook, section 9.11",
		Class:      dme.Token,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "TOKEN"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		Clocks:     clocks,
		Gauges:     []dme.Gauge{{Quantity: AheadInQueue.ID, Begin: newAhead}},
		// A token has up to 2N−1 elements.
		ValidNodes:  func(n int, _ dme.Options) error { return fits(n) },
		HasToken:    dme.OfNode((*site).HasToken),
		Wanted:      dme.OfNode((*site).wanted),
		QueueLength: dme.OfNode((*site).QueueLength),
		Waits:       dme.OfNode((*site).Waits),
		Prepare:     dme.Unshared(newSite),
	}
}

// clocks shows the numbers in a message, which count the requests of one site each.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	if m.Kind == kindRequest {
		v.ClockOf(from, "", &m.Clock)
	}
	v.ClocksByNode(n, "", &m.Vec) // of a TOKEN
}

type site struct {
	i          dme.NodeID
	n          int
	rn         []uint64 // RN_i[j] is rn[j-1]
	token      token    // nil while another site has it
	requesting bool     // waiting for the token
	executing  bool     // the CS

	seen collections.NodeSet // scratch, empty between events: the members of Q
}

func newSite(n int, id dme.NodeID) dme.Node {
	s := &site{i: id, n: n, rn: make([]uint64, n), seen: collections.MakeNodeSet(n)}
	if id == 1 {
		s.token = newToken(n)
	}
	return s
}

// wanted reports whether another site waits for the token, which this one has.
func (s *site) wanted() bool {
	for j := range dme.Others(s.n, s.i) {
		if s.outstanding(j) {
			return true
		}
	}
	return false
}

// Request is step (a), or (c) at the site that has the token.
func (s *site) Request(out *dme.Outbox) {
	if s.token != nil {
		s.execute(out)
		return
	}
	s.requesting = true
	s.rn[s.i-1]++
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: s.rn[s.i-1]})
}

func (s *site) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		s.receiveRequest(from, m.Clock, out)
	} else {
		s.receiveToken(m.Vec, out)
	}
}

// receiveRequest is step (b).
func (s *site) receiveRequest(from dme.NodeID, sn uint64, out *dme.Outbox) {
	if sn == 0 {
		out.Refuse("REQUEST without a number")
		return
	}
	s.rn[from-1] = max(s.rn[from-1], sn)
	if s.token != nil && !s.executing && s.outstanding(from) {
		s.pass(from, out)
	}
}

// receiveToken is step (c).
func (s *site) receiveToken(vec []uint64, out *dme.Outbox) {
	t := token(vec)
	switch {
	case !s.requesting:
		out.Refuse("TOKEN without a request")
	case !t.wellFormed(s.n, s.i, &s.seen):
		out.Refuse("TOKEN whose array or queue is malformed")
	case t.ln(s.i)+1 != s.rn[s.i-1]:
		out.Refuse("TOKEN that does not answer the pending request")
	default:
		s.token = t
		s.requesting = false
		s.execute(out)
	}
}

func (s *site) execute(out *dme.Outbox) {
	s.executing = true
	out.Enter(dme.Stamp{})
}

// Release is steps (d), (e) and (f).
func (s *site) Release(out *dme.Outbox) {
	s.executing = false
	s.token.setLN(s.i, s.rn[s.i-1]) // (d)

	for _, j := range s.token.queue(s.n) { // (e)
		s.seen.Add(dme.NodeID(j))
	}
	for j := dme.NodeID(1); int(j) <= s.n; j++ {
		if s.outstanding(j) && !s.seen.Has(j) {
			s.token = append(s.token, uint64(j))
		}
	}
	s.seen.Clear()

	if head := s.token.takeHead(s.n); head != dme.None { // (f)
		s.pass(head, out)
	}
}

// outstanding reports whether j has a request that has not been executed. The
// site must have the token.
func (s *site) outstanding(j dme.NodeID) bool { return s.rn[j-1] == s.token.ln(j)+1 }

// pass hands the token over, and with it the memory that it lies in.
func (s *site) pass(to dme.NodeID, out *dme.Outbox) {
	out.Send(to, dme.Message{Kind: kindToken, Vec: s.token})
	s.token = nil
}

func (s *site) State(v *dme.Visitor) {
	v.ClocksByNode(s.n, "RN", &s.rn)
	v.Bool("requesting", &s.requesting)
	v.Bool("executing", &s.executing)
	// LN and Q, one after the other; empty without the token.
	v.ClocksByNode(s.n, "token", (*[]uint64)(&s.token))
	if len(s.token) == 0 {
		s.token = nil // as a loaded state leaves it
	}
}

// QueueLength returns the length of the token's queue, 0 without the token.
func (s *site) QueueLength() int { return max(0, len(s.token)-s.n) }

func (s *site) HasToken() bool { return s.token != nil }

// Waits names the token: a site that asks all others does not know which has it.
func (s *site) Waits() []dme.Wait { return dme.WaitIf(s.requesting, "TOKEN", dme.None) }

// token is LN[1..N] and behind it Q, in the form in which messages carry it.
type token []uint64

// newToken returns a token with room for the longest queue, so that it never
// grows.
func newToken(n int) token { return make(token, n, 2*n) }

// fits reports whether a token for n sites can be sent.
func fits(n int) error {
	if 2*n > dme.MaxVec {
		return errors.New("the token would be longer than a message may be")
	}
	return nil
}

func (t token) ln(j dme.NodeID) uint64            { return t[j-1] }
func (t token) setLN(j dme.NodeID, number uint64) { t[j-1] = number }

// queue returns Q.
func (t token) queue(n int) []uint64 { return t[n:] }

// takeHead removes and returns the head of Q, None if Q is empty.
func (t *token) takeHead(n int) dme.NodeID {
	q := t.queue(n)
	if len(q) == 0 {
		return dme.None
	}
	head := dme.NodeID(q[0])
	copy(q, q[1:])
	*t = (*t)[:len(*t)-1]
	return head
}

// wellFormed reports whether t has n numbers and a queue of different sites
// without its receiver i. scratch must be empty and is left so.
func (t token) wellFormed(n int, i dme.NodeID, scratch *collections.NodeSet) bool {
	if len(t) < n {
		return false
	}
	ok := true
	scratch.Add(i)
	for _, x := range t.queue(n) {
		j := dme.NodeID(x)
		if x < 1 || x > uint64(n) || scratch.Has(j) {
			ok = false
			break
		}
		scratch.Add(j)
	}
	scratch.Clear()
	return ok
}
