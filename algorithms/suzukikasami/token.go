package suzukikasami

import (
	"errors"

	"dmebench/dme"
)

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

// takeHead removes and returns the head of Q, None where Q is empty.
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
func (t token) wellFormed(n int, i dme.NodeID, scratch *dme.NodeSet) bool {
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
