package ricartagrawala

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// What answers another stage of a node than that it is at, another request of it or a
// question about another node comes late, and changes nothing.
func TestLateAnswersChangeNothing(t *testing.T) {
	acknowledge := func(node dme.NodeID, number uint64) dme.Message {
		return dme.Message{Kind: kindAcknowledge, Node: node, Clock: number}
	}
	highest := dme.Message{Kind: kindHighest, Clock: 90, Flags: byMember}
	here := dme.Message{Kind: kindHere, Flags: byMember}
	welcome := func(d directed) { d.Do(vnet.Step{Kind: vnet.Join, Node: 4}); d.ask(4) }
	for name, x := range map[string]struct {
		reach func(directed)
		stage stage
		at    dme.NodeID
		late  []dme.Message
	}{
		"resting": {func(directed) {}, resting, 1, []dme.Message{acknowledge(1, 0), acknowledge(3, 1), highest, here, {Kind: kindYesIAmHere}}},
		"asking": {func(d directed) { d.ask(1) }, asking, 1, []dme.Message{
			acknowledge(1, 0), acknowledge(1, 1), acknowledge(3, 1), highest, here, {Kind: kindYesIAmHere, Clock: 1}, {Kind: kindReply},
		}},
		"probing": {func(d directed) {
			d.Do(vnet.Step{Kind: vnet.Crash, Node: 3})
			d.run(nil)
			d.ask(1)
			d.deliver(1, 2, kindRequest)
			d.deliver(2, 1, kindReply)
			d.fire(1)
		}, probing, 1, []dme.Message{
			acknowledge(1, 0), acknowledge(3, 1), highest, here, {Kind: kindYesIAmHere}, {Kind: kindReply},
		}},
		"inserting": {
			func(d directed) {
				welcome(d)
				d.run(nil, held{kind: kindAcknowledge}, held{kindHere, 2, 4}, held{kindHere, 3, 4})
			},
			inserting, 1, []dme.Message{acknowledge(1, 1), acknowledge(3, 1), acknowledge(4, 0), highest, here, {Kind: kindReply, Clock: 1}},
		},
		"welcoming": {
			func(d directed) {
				welcome(d)
				d.run(nil, held{kind: kindWelcome}, held{kindHere, 2, 4}, held{kindHere, 3, 4})
			},
			welcoming, 1, []dme.Message{acknowledge(4, 1), acknowledge(2, 1), acknowledge(1, 0), highest, here, {Kind: kindReply, Clock: 1}},
		},
		"seeking": {
			func(d directed) { welcome(d); d.run(nil, held{kind: kindWhoIsThere}) },
			seeking, 4, []dme.Message{acknowledge(4, 0), acknowledge(4, 1), highest, {Kind: kindYesIAmHere}, {Kind: kindReply}},
		},
		"applying": {
			func(d directed) { welcome(d); d.run(nil, held{kind: kindSponsor}) },
			applying, 4, []dme.Message{acknowledge(4, 0), acknowledge(2, 1), highest, here, {Kind: kindYesIAmHere, Clock: 7}, {Kind: kindReply}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := direct(t, Robust(), nil, vnet.Config{Nodes: 4, Absent: []dme.NodeID{4}, Bounded: true, Unordered: true})
			x.reach(d)
			n := d.Node(x.at).(*robustNode)
			if n.stage != x.stage {
				t.Fatalf("node %d is at stage %d, want %d: %s", x.at, n.stage, x.stage, dme.DescribeState(n))
			}
			for _, m := range x.late {
				for from := dme.NodeID(2); from <= 3; from++ {
					before, sent := dme.DescribeState(n), len(d.InFlight())
					d.Inject(from, x.at, &m)
					if after := dme.DescribeState(n); after != before || len(d.InFlight()) != sent {
						t.Errorf("after %+v: %s, and before: %s; %d messages are sent", m, after, before, len(d.InFlight())-sent)
					}
				}
			}
		})
	}
}

// Way d of section 7.2.3: a round trip, and for each of four others a critical section and
// a message.
func TestTimeForAll(t *testing.T) {
	sys, err := Robust().New(5, 1, map[string]string{"bound": "30ms", "cs-bound": "7ms", "synchronized": "time"})
	if err != nil {
		t.Fatal(err)
	}
	if got := sys.Node(1).(*robustNode).timeForAll(); got != 208*time.Millisecond {
		t.Errorf("%v, want 2 · 30 ms + 4 · 37 ms", got)
	}
}

// A node whose own request goes first, and which has not seen the other's, defers it when
// it is asked ARE_YOU_THERE. As printed it replies.
func TestProbeOfARequestThatWasLost(t *testing.T) {
	for a, want := range map[*dme.Algorithm]dme.Kind{Robust(): kindYesIAmHere, RobustAsPublished(): kindReply} {
		sys, err := a.New(2, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(1)
		n.Request(new(dme.Outbox)) // with 1, and before node 2 with the same number
		var out dme.Outbox
		n.Receive(2, dme.Message{Kind: kindAreYouThere, Clock: 1}, &out)
		if e := out.Effects(); len(e) != 1 || e[0].To != 2 || e[0].Msg.Kind != want || e[0].Msg.Clock != 1 {
			t.Errorf("%s: %+v, want a message of kind %d", a.Name, e, want)
		}
	}
}
