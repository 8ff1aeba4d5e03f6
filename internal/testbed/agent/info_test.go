package agent

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dmebench/dme"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/transport/nats"
)

func TestCheckBroker(t *testing.T) {
	ca := []byte("an authority")
	for _, x := range []struct {
		b      nats.Broker
		secure bool
	}{
		{nats.Broker{URL: "nats://127.0.0.1:4222"}, true},
		{nats.Broker{URL: "nats://localhost:4222"}, true},
		{nats.Broker{URL: "nats://[::1]:4222"}, true},
		{nats.Broker{URL: "tls://10.0.0.1:4222"}, true},
		{nats.Broker{URL: "nats://10.0.0.1:4222", CA: ca}, true},
		{nats.Broker{URL: "nats://10.0.0.1:4222", Token: "s3cret"}, false},
		{nats.Broker{URL: "nats://localhost.example.org:4222"}, false},
		{nats.Broker{URL: "nats://127.0.0.1.example.org:4222"}, false},
		{nats.Broker{URL: "tls://10.0.0.1:4222,nats://10.0.0.2:4222"}, false},
		{nats.Broker{URL: "nats://me:s3cret@10.0.0.1:4222"}, false},
		{nats.Broker{URL: "nats://s3cret@%zz"}, false},
	} {
		err := CheckBroker(x.b)
		if (err == nil) != x.secure {
			t.Errorf("%s: %v", x.b.URL, err)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cret") || !errors.Is(err, nats.ErrBroker)) {
			t.Error(err)
		}
	}
	err := CheckBroker(nats.Broker{URL: "nats://10.0.0.1:4222"})
	if !strings.Contains(err.Error(), "write tls://10.0.0.1:4222") {
		t.Error(err)
	}
	a := Agent{Broker: nats.Broker{URL: "nats://10.0.0.1:4222"}, Name: "a"}
	if err := a.Serve(t.Context()); !errors.Is(err, nats.ErrBroker) {
		t.Error(err)
	}
	if _, err := Connect(t.Context(), a.Broker); !errors.Is(err, nats.ErrBroker) {
		t.Error(err)
	}
}

func TestParseLabels(t *testing.T) {
	got, err := ParseLabels([]string{"rack=a", "zone=eu-1/b"})
	if err != nil || !reflect.DeepEqual(got, map[string]string{"rack": "a", "zone": "eu-1/b"}) {
		t.Error(got, err)
	}
	for _, bad := range [][]string{{"rack"}, {"=a"}, {"rack="}, {"r ck=a"}, {"rack=a b"}, {"rack=a", "rack=b"}, {"a=b=c"}} {
		if _, err := ParseLabels(bad); err == nil {
			t.Errorf("%q", bad)
		}
	}
}

func TestWhatAnAgentIsToldMakesSense(t *testing.T) {
	_, b := serve(t, 0)
	for what, a := range map[string]Agent{
		"name":    {Name: "a b"},
		"address": {Name: "a", Address: "192.0.2.1"}, // of documentation: no host has it
		"one":     {Name: "a", Address: "0.0.0.0"},
	} {
		a.Broker = b
		if err := a.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Hosts that could not reach one another, or not be told apart, make no run.
func TestAgree(t *testing.T) {
	at := func(name, address string) Info { return Info{Name: name, Address: address} }
	for _, good := range [][]Info{
		{at("a", "10.0.0.1"), at("b", "10.0.0.2")},
		{at("a", "127.0.0.1"), at("b", "127.0.0.1")},
	} {
		if err := agree(good); err != nil {
			t.Error(err)
		}
	}
	for words, bad := range map[string][]Info{
		"two are named a":                               {at("a", "10.0.0.1"), at("a", "10.0.0.2")},
		"give the former its --address":                 {at("a", "127.0.0.1"), at("b", "10.0.0.2")},
		"b, at ::1, cannot be reached from a, at 10.0.": {at("a", "10.0.0.1"), at("b", "::1")},
	} {
		if err := agree(bad); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

func TestTooFew(t *testing.T) {
	err := new(Fleet).tooFew(nil, nil, 3, 0).Error()
	if !strings.Contains(err, "none, of 3") || !strings.Contains(err, "dmebench agent") {
		t.Error(err)
	}
}

// Readings are the same behind the wire, and those of nodes elsewhere stay as they are.
func TestReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		word := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3), rapid.Just(uint64(math.MaxUint64)))
		reading := func(label string) host.Reading {
			return host.Reading{
				Sent: word.Draw(t, label), Handled: word.Draw(t, label), Requests: word.Draw(t, label), Entries: word.Draw(t, label),
				Timers: word.Draw(t, label), Pending: word.Draw(t, label),
				Activity: noderun.Activity(rapid.Uint32Range(0, uint32(noderun.Down)).Draw(t, label)),
			}
		}
		var local []dme.NodeID
		there, here := make([]host.Reading, n), make([]host.Reading, n)
		want := make([]host.Reading, n)
		for i := range n {
			there[i], here[i] = reading("there"), reading("here")
			want[i] = here[i]
			if rapid.Bool().Draw(t, "local") {
				local = append(local, dme.NodeID(i+1))
				want[i] = there[i]
			}
		}
		b := appendReadings(nil, there, local)
		if err := decodeReadings(here, local, b); err != nil || !reflect.DeepEqual(here, want) {
			t.Fatalf("%v: %+v, want %+v", err, here, want)
		}
		if decodeReadings(here, local, append(b, 0)) == nil || len(b) > 0 && decodeReadings(here, local, b[:len(b)-1]) == nil {
			t.Fatal("more or less than readings was taken for them")
		}
	})
}

// FuzzReadRequest: whatever comes, what is read is a request that can be written.
func FuzzReadRequest(f *testing.F) {
	f.Add(message(request{Op: string(askDescribe)}, encode(nothing{})))
	f.Add(message(request{Op: string(askStart), Lease: "L", Sequence: 7}, encode(startRequest{Run: "R", Worker: 2, Procs: 1})))
	f.Add(message(request{Op: string(askOpen)}, encode(openRequest{Ticket: "T", Part: host.Part{Nodes: 3, Local: nodes(1, 3)}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, body, err := readRequest(b)
		if err != nil {
			return
		}
		var s startRequest
		if decode(body, &s) == nil {
			_ = s.check(10)
		}
		var o openRequest
		if decode(body, &o) == nil {
			_ = checkPart(&o.Part)
		}
		if r, again, err := readRequest(message(q, body)); err != nil || r != q || !bytes.Equal(again, body) {
			t.Fatalf("%v: %+v, want %+v", err, r, q)
		}
	})
}

func TestOrderOfNames(t *testing.T) {
	want := []string{"a", "a1", "a2", "a02b", "a10", "a10x", "a11", "b", "h1", "h9", "h10", "h100", "h1000000000000000000000"}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.Permutation(want).Draw(t, "names")
		slices.SortFunc(names, compareNames)
		if !slices.Equal(names, want) {
			t.Fatal(names)
		}
	})
}
