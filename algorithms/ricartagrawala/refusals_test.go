package ricartagrawala

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// series is a series of messages from node 2, of which the last is refused.
func series(name string, msgs ...dme.Message) conformance.Refusal {
	return conformance.Refusal{Name: name, From: 2, Msgs: msgs}
}

func TestRefusals(t *testing.T) {
	message := func(kind dme.Kind, number uint64) dme.Message {
		return dme.Message{Kind: kind, Clock: number}
	}
	request := func(number uint64) dme.Message { return message(kindRequest, number) }
	reply := func(number uint64) dme.Message { return message(kindReply, number) }
	byReader := dme.Message{Kind: kindRequest, Clock: 9, Flags: 2}
	section2 := []conformance.Refusal{
		series("REQUEST without a number", request(0)),
		series("REQUEST twice", request(9), request(9)),
		series("REPLY to an earlier request", reply(1)),
		series("REPLY to a request not made", reply(3)),
		series("REPLY twice", reply(2), reply(2)),
	}
	for _, c := range []struct {
		algorithm *dme.Algorithm
		set       map[string]string
		refused   []conformance.Refusal
	}{
		{Algorithm(), nil, section2},
		{Priority(), map[string]string{"most": "1"}, section2},
		{ReadersWriters(), nil, append(section2, series("REQUEST by neither", byReader))},
		{Broadcast(), nil, append(section2,
			series("REPLY twice, once in a list", dme.Message{Kind: kindReply, Vec: []uint64{3, 7, 1, 2}}, reply(2)),
			series("a list without numbers", dme.Message{Kind: kindReply, Vec: []uint64{1}}),
		)},
		{Broadcast(), map[string]string{"form": "sequenced"}, []conformance.Refusal{
			series("REQUEST twice on the medium", request(0), request(0)),
			series("REPLY without a REQUEST", reply(0)),
		}},
		{Bounded(), nil, []conformance.Refusal{
			series("REQUEST beyond the modulus", request(5)),
			series("REPLY beyond the modulus", reply(7)),
			series("REQUEST twice", request(3), request(3)),
			series("REPLY to an earlier request", reply(1)),
			series("REPLY twice", reply(2), reply(2)),
		}},
		{Implicit(), nil, []conformance.Refusal{
			series("REQUEST without a number", request(0)),
			series("REQUEST twice", request(9), request(9)),
			series("DEFERRED of an earlier request", message(kindDeferred, 1)),
			series("DEFERRED twice", message(kindDeferred, 2), message(kindDeferred, 2)),
			series("REPLY of an earlier request", message(kindExplicitReply, 1)),
			series("REPLY twice, and no DEFERRED", message(kindExplicitReply, 2), message(kindExplicitReply, 2)),
		}},
	} {
		t.Run(c.algorithm.Name, func(t *testing.T) {
			conformance.TestRefusals(t, 1, func() *conformance.Net { return second(t, c.algorithm, 3, c.set, 1) }, c.refused...)
		})
	}
}

// second returns a network in which node id has been served, and asks again,
// with number 2.
func second(t *testing.T, a *dme.Algorithm, nodes int, set map[string]string, id dme.NodeID) *conformance.Net {
	t.Helper()
	net := conformance.Make(t, a, nodes, set)
	if _, err := net.Serve(id); err != nil {
		t.Fatal(err)
	}
	net.Request(id)
	return net
}

func TestRingRefusals(t *testing.T) {
	request := func(number uint64, node dme.NodeID, notes ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: number, Node: node}, Vec: notes}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: number}
	}
	for form, refused := range map[string][]conformance.Refusal{
		"echo": {
			{Name: "not by the predecessor", From: 3, Msgs: []dme.Message{request(5, 3)}},
			{Name: "no number", From: 1, Msgs: []dme.Message{request(0, 1)}},
			{Name: "no node", From: 1, Msgs: []dme.Message{request(5, 9)}},
			{Name: "an earlier one of its own", From: 1, Msgs: []dme.Message{request(1, 2)}},
			{Name: "deferred twice", From: 1, Msgs: []dme.Message{request(5, 4), request(5, 4)}},
			{Name: "home twice", From: 1, Msgs: []dme.Message{request(2, 2), request(2, 2)}},
			{Name: "REPLY", From: 1, Msgs: []dme.Message{reply(2)}},
		},
		"notes": {
			{Name: "home twice", From: 1, Msgs: []dme.Message{request(2, 2, 3), request(2, 2, 3)}},
			{Name: "note by nobody", From: 1, Msgs: []dme.Message{request(2, 2, 9)}},
			{Name: "note by itself", From: 1, Msgs: []dme.Message{request(2, 2, 2)}},
			{Name: "notes against the ring", From: 1, Msgs: []dme.Message{request(2, 2, 4, 3)}},
			{Name: "note by one who comes later", From: 1, Msgs: []dme.Message{request(5, 4, 3)}},
			{Name: "REPLY to an earlier request", From: 3, Msgs: []dme.Message{reply(1)}},
			{Name: "REPLY twice", From: 3, Msgs: []dme.Message{reply(2), reply(2)}},
		},
	} {
		t.Run(form, func(t *testing.T) {
			start := func() *conformance.Net { return second(t, Ring(), 4, map[string]string{"form": form}, 2) }
			conformance.TestRefusals(t, 2, start, refused...)
		})
	}
}
