package ricartagrawala

import (
	"testing"

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
			n := d.Runner(x.at).Node().(*robustNode)
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
