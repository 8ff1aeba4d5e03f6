package ricartagrawala

import (
	"maps"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// second returns a network in which node id has been served, and asks again,
// with number 2.
func second(t *testing.T, a *dme.Algorithm, nodes int, set map[string]string, id dme.NodeID) func() *conformance.Net {
	return func() *conformance.Net {
		net := conformance.Make(t, a, nodes, set)
		if _, err := net.Serve(id); err != nil {
			t.Fatal(err)
		}
		net.Request(id)
		return net
	}
}

func TestRefusals(t *testing.T) {
	type series = map[string][]dme.Message
	message := func(kind dme.Kind, number uint64) dme.Message {
		return dme.Message{Kind: kind, Clock: number}
	}
	request := func(number uint64) dme.Message { return message(kindRequest, number) }
	reply := func(number uint64) dme.Message { return message(kindReply, number) }
	list := func(vec ...uint64) dme.Message { return dme.Message{Kind: kindReply, Vec: vec} }
	replies := series{
		"REPLY to an earlier request": {reply(1)},
		"REPLY to a request not made": {reply(3)},
		"REPLY twice":                 {reply(2), reply(2)},
	}
	section2 := series{
		"REQUEST without a number": {request(0)},
		"REQUEST twice":            {request(9), request(9)},
	}
	maps.Copy(section2, replies)
	for _, c := range []struct {
		algorithm *dme.Algorithm
		set       map[string]string
		refused   []series
	}{
		{Algorithm(), nil, []series{section2}},
		{Priority(), map[string]string{"most": "1"}, []series{section2}},
		{ReadersWriters(), nil, []series{section2, {
			"REQUEST by neither": {{Kind: kindRequest, Clock: 9, Flags: 2}},
		}}},
		{Broadcast(), nil, []series{section2, {
			"REPLY twice, once in a list": {list(3, 7, 1, 2), reply(2)},
			"a list without numbers":      {list(1)},
		}}},
		{Broadcast(), map[string]string{"form": "sequenced"}, []series{{
			"REQUEST twice on the medium": {request(0), request(0)},
			"REPLY without a REQUEST":     {reply(0)},
		}}},
		{Bounded(), nil, []series{replies, {
			"REQUEST beyond the modulus": {request(5)},
			"REPLY beyond the modulus":   {reply(7)},
			"REQUEST twice":              {request(3), request(3)},
		}}},
		{Implicit(), nil, []series{{
			"REQUEST without a number":       {request(0)},
			"REQUEST twice":                  {request(9), request(9)},
			"DEFERRED of an earlier request": {message(kindDeferred, 1)},
			"DEFERRED twice":                 {message(kindDeferred, 2), message(kindDeferred, 2)},
			"REPLY of an earlier request":    {message(kindExplicitReply, 1)},
			"REPLY twice, and no DEFERRED":   {message(kindExplicitReply, 2), message(kindExplicitReply, 2)},
		}}},
	} {
		t.Run(c.algorithm.Name, func(t *testing.T) {
			for _, series := range c.refused {
				conformance.TestRefusals(t, 2, 1, second(t, c.algorithm, 3, c.set, 1), series)
			}
		})
	}
}

func TestRingRefusals(t *testing.T) {
	request := func(number uint64, node dme.NodeID, notes ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: number, Node: node}, Vec: notes}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: number}
	}
	for _, c := range []struct {
		form    string
		from    dme.NodeID
		refused map[string][]dme.Message
	}{
		{"echo", 1, map[string][]dme.Message{
			"no number":                 {request(0, 1)},
			"no node":                   {request(5, 9)},
			"an earlier one of its own": {request(1, 2)},
			"deferred twice":            {request(5, 4), request(5, 4)},
			"home twice":                {request(2, 2), request(2, 2)},
			"REPLY":                     {reply(2)},
		}},
		{"echo", 3, map[string][]dme.Message{"not by the predecessor": {request(5, 3)}}},
		{"notes", 1, map[string][]dme.Message{
			"home twice":                  {request(2, 2, 3), request(2, 2, 3)},
			"note by nobody":              {request(2, 2, 9)},
			"note by itself":              {request(2, 2, 2)},
			"notes against the ring":      {request(2, 2, 4, 3)},
			"note by one who comes later": {request(5, 4, 3)},
		}},
		{"notes", 3, map[string][]dme.Message{
			"REPLY to an earlier request": {reply(1)},
			"REPLY twice":                 {reply(2), reply(2)},
		}},
	} {
		t.Run(c.form, func(t *testing.T) {
			conformance.TestRefusals(t, c.from, 2, second(t, Ring(), 4, map[string]string{"form": c.form}, 2), c.refused)
		})
	}
}
