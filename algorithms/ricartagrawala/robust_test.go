package ricartagrawala

import (
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

// The whole number of random schedules, and the search of all schedules of three
// nodes, take minutes.
// Nodes crash, return, join and leave at random moments.
func TestRobustSurvives(t *testing.T) {
	count := uint64(100)
	if testkit.Full() {
		count = 10_000
	}
	for _, set := range conformance.Settings(Robust()) {
		for nodes := 2; nodes <= 4; nodes++ {
			if err := conformance.SearchFaults(Robust(), nodes, set, count); err != nil {
				t.Error(err)
			}
		}
	}
}

// All schedules in which a node crashes at any moment, and comes back or not.
func TestRobustInAllSchedules(t *testing.T) {
	for _, o := range []check.Options{
		{Nodes: 2, Requests: 2, Unordered: true, Faults: 1},
		{Nodes: 2, Requests: 2, Faults: 1, Set: map[string]string{"insertion": "broadcast"}},
		{Nodes: 3, Requests: 3, Faults: 1},
	} {
		if o.Nodes > 2 && !testkit.Full() {
			continue
		}
		o.States = 20_000_000
		s, err := check.New(Robust(), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Exhaustive(t.Context())
		if err != nil || r.Violation != nil || !r.Complete {
			t.Errorf("%d nodes: %v, complete %v, violation %v", o.Nodes, err, r.Complete, r.Violation)
		}
	}
}

// The sponsor admits the newcomer when all have acknowledged that they have added
// it. Node 3 asks before it has: the newcomer must know of that request.
func TestSponsorWaitsForAcknowledgements(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Absent: []dme.NodeID{1}, Bounded: true, Unordered: true})
	insert, request := held{kindInsert, 2, 3}, held{kind: kindRequest, from: 1}
	d.Do(vnet.Step{Kind: dme.Join, Node: 1})
	d.ask(1)
	d.run(nil, insert, request, held{kindHere, 3, 1})
	d.ask(3)
	d.run([]dme.NodeID{3}, insert, request)
	d.run([]dme.NodeID{3}, request)
	d.run([]dme.NodeID{1, 3})
	if len(d.Inside()) != 1 {
		t.Errorf("%v are inside", d.Inside())
	}
	d.run(nil)
	if w := d.Waiting(); len(w) > 0 {
		t.Errorf("%v wait", w)
	}
}

// A node that comes back at the moment when another declares it failed waits
// until that has been heard by all.
func TestRestartInterval(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Bounded: true, Unordered: true})
	failed, here := held{kindFailed, 1, 2}, held{kindHere, 1, 3}
	d.Do(vnet.Step{Kind: dme.Crash, Node: 3})
	d.run(nil)
	d.ask(1)
	d.deliver(1, 2, kindRequest)
	d.deliver(2, 1, kindReply)
	d.fire(1) // the first period
	d.fire(1) // the first leg of the second
	d.Do(vnet.Step{Kind: dme.Restart, Node: 3})
	d.ask(3)
	d.fire(1)
	d.wantInside(1)
	d.run([]dme.NodeID{3}, failed, here)
	d.run([]dme.NodeID{3})
	d.wantInside(3)
	d.ask(2)
	d.run([]dme.NodeID{3})
	d.wantInside(3)
	d.run([]dme.NodeID{2})
	d.wantInside(2)
}

// A sponsor fails when it has sent WELCOME, comes back at once, and another
// inserts the next newcomer before the WELCOME arrives: its list lacks that one.
func TestWelcomeOfASponsorThatFailed(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 4, Absent: []dme.NodeID{1, 2}, Bounded: true, Unordered: true})
	welcome, second, here := held{kindWelcome, 3, 1}, held{kindSponsor, 2, 4}, held{kindHere, 4, 1}
	for id := dme.NodeID(1); id <= 2; id++ {
		d.Do(vnet.Step{Kind: dme.Join, Node: id})
		d.ask(id)
	}
	d.run(nil, second, here, held{kindHere, 3, 2}, held{kind: kindSponsor, from: 1})
	d.run(nil, welcome, second, here, held{kindHere, 3, 2})
	d.find(3, 1, kindWelcome)
	d.Do(vnet.Step{Kind: dme.Crash, Node: 3})
	d.Do(vnet.Step{Kind: dme.Restart, Node: 3})
	d.run([]dme.NodeID{2}, welcome)
	d.wantInside(2)
	d.run([]dme.NodeID{2})
	d.wantInside(2)
	d.run([]dme.NodeID{1})
	d.wantInside(1)
}

// A second WELCOME adds to the group, and changes nothing else of a node that waits.
func TestASecondWelcome(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Absent: []dme.NodeID{3}, Bounded: true, Unordered: true})
	d.ask(1)
	n := d.Node(1).(*robustNode)
	before := n.stage
	if before != asking || n.group.Has(3) {
		t.Fatalf("node 1 is at stage %d of a group %v", before, n.group)
	}
	d.Inject(2, 1, &dme.Message{Kind: kindWelcome, Clock: 1, Vec: []uint64{3}})
	if n.stage != before || !n.group.Has(3) {
		t.Errorf("node 1 is at stage %d of a group %v", n.stage, n.group)
	}
}

// Node 3 is all that is left of a group. It admits node 2 and fails while node 1,
// which looks for a group, has heard from node 2 that it is a newcomer.
func TestFoundingWaitsForWhoIsJustAdmitted(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Absent: []dme.NodeID{1, 2}, Bounded: true, Unordered: true})
	sponsor, who, welcome := held{kindSponsor, 2, 3}, held{kind: kindWhoIsThere, from: 1}, held{kindWelcome, 3, 2}
	d.Do(vnet.Step{Kind: dme.Join, Node: 2})
	d.Do(vnet.Step{Kind: dme.Join, Node: 1})
	d.ask(1)
	d.ask(2)
	d.run(nil, sponsor, who)
	d.deliver(2, 3, kindSponsor)
	d.Do(vnet.Step{Kind: dme.Crash, Node: 3})
	d.deliver(1, 2, kindWhoIsThere)
	d.run([]dme.NodeID{1, 2}, welcome)
	d.run([]dme.NodeID{1, 2})
	if len(d.Inside()) != 1 {
		t.Errorf("%v are inside", d.Inside())
	}
	d.run(nil)
	if w := d.Waiting(); len(w) > 0 {
		t.Errorf("%v wait", w)
	}
}

// A node that has not seen the REQUEST answers ARE_YOU_THERE as it.
func TestLostRequestIsFoundByProbe(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 2, Lose: 1, Bounded: true, Unordered: true})
	d.ask(2)
	d.Do(vnet.Step{Kind: dme.Lose, From: 2, Node: 1})
	d.ask(1)
	d.run([]dme.NodeID{1, 2})
	d.wantInside(1)
	d.run([]dme.NodeID{2})
	d.wantInside(2)
}

// Where messages keep no bound, a node that is alive may be removed: it is told so
// when it asks, and returns as a newcomer.
func TestRemovedNodeReturns(t *testing.T) {
	for _, kind := range []dme.Kind{kindFailed, kindRestart} {
		d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Lose: 1, Unordered: true})
		late := held{kindReply, 3, 1}
		d.ask(1)
		d.deliver(1, 2, kindRequest)
		d.deliver(2, 1, kindReply)
		d.deliver(1, 3, kindRequest)
		for range 1 + legs {
			d.fire(1)
		}
		d.wantInside(1)
		if kind == kindRestart {
			d.Do(vnet.Step{Kind: dme.Lose, From: 1, Node: 3, Index: d.find(1, 3, kindFailed)})
		}
		d.run(nil, late, held{kindAreYouThere, 1, 3})
		if n := d.Node(3).(*robustNode); n.admitted != (kind == kindRestart) && n.group.Len() != 2 {
			t.Errorf("node 3: %v", dme.DescribeState(n))
		}
		d.ask(3)
		d.run(nil)
		if w := d.Waiting(); len(w) > 0 {
			t.Errorf("told by %s: %v wait", Robust().KindName(kind), w)
		}
		for id := range d.IDs() {
			if n := d.Node(id).(*robustNode); n.group.Len() != 2 || !n.admitted || !n.synchronized {
				t.Errorf("told by %s, node %d: %v", Robust().KindName(kind), id, dme.DescribeState(n))
			}
		}
		if got := d.Counts(3).Entries; got != 1 {
			t.Errorf("node 3 has entered %d times", got)
		}
	}
}

// The timers of 7.4 add up to two round trips and an estimate of the critical
// section, whatever the number of nodes.
func TestDetectionTakesTwoPeriods(t *testing.T) {
	a := Robust()
	set := map[string]string{"bound": "30ms", "cs-bound": "7ms"}
	for _, nodes := range []int{2, 5} {
		sys, err := a.New(nodes, 1, set)
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(1)
		var out dme.Outbox
		n.Request(&out)
		var waited time.Duration
		entered := false
		for range 10 {
			effects := slices.Clone(out.Effects())
			out.Reset()
			var set time.Duration
			for _, e := range effects {
				if e.Kind == dme.SetTimer {
					set = e.Delay
				}
				entered = entered || e.Kind == dme.Enter
			}
			if entered {
				break
			}
			waited += set
			n.(dme.Timed).Timeout(answerDue, &out)
		}
		opt, _ := a.Resolve(set)
		for _, c := range claim.Of(a) {
			if c.Quantity != DetectionTime {
				continue
			}
			want, ok := c.Prediction(dme.Setting{Algorithm: a, Nodes: nodes, Options: opt, System: sys})
			if !entered || !ok || waited.Seconds() != want || waited != 127*time.Millisecond {
				t.Errorf("N=%d: %v, predicted %v s", nodes, waited, want)
			}
		}
	}
}

// A critical section may last as long as it likes: nobody is taken for failed.
func TestCriticalSectionsMayBeLong(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Bounded: true, Unordered: true})
	d.ask(1)
	d.run([]dme.NodeID{1})
	d.ask(2)
	d.ask(3)
	d.run([]dme.NodeID{1}) // a thousand steps
	d.wantInside(1)
	if d.Counts(1).SentOf[kindYesIAmHere] < 100 {
		t.Error("few have asked")
	}
	for id := range d.IDs() {
		if failed := d.Counts(id).SentOf[kindFailed]; failed > 0 {
			t.Errorf("node %d has told %d times that a node has failed", id, failed)
		}
	}
	d.run([]dme.NodeID{2})
	d.wantInside(2)
}

// What a node waits for is told in the words of the text.
func TestRobustWaits(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Absent: []dme.NodeID{1}, Bounded: true, Unordered: true})
	waits := func(id dme.NodeID, want ...dme.Wait) {
		t.Helper()
		if got := d.Algorithm.Waits(d.Node(id)); !slices.Equal(got, want) {
			t.Errorf("node %d waits for %v, want %v", id, got, want)
		}
	}
	waits(2)
	d.ask(2)
	waits(2, dme.Wait{For: 3, What: "REPLY"})
	d.run([]dme.NodeID{2})
	d.Do(vnet.Step{Kind: dme.Join, Node: 1})
	d.ask(1)
	waits(1)
	d.run([]dme.NodeID{2}, held{kindHere, 3, 1}, held{kind: kindSponsor})
	waits(1, dme.Wait{For: 2, What: "WELCOME"})
	d.run(nil, held{kindInsert, 2, 3}, held{kindHere, 3, 1})
	waits(2, dme.Wait{For: 3, What: "ACKNOWLEDGE"})
	d.run(nil, held{kind: kindHighest})
	waits(1, dme.Wait{For: 2, What: "HIGHEST"}, dme.Wait{For: 3, What: "HIGHEST"})
	d.run(nil)
	if d.Counts(1).Entries != 1 || d.Activity(2) != noderun.Idle {
		t.Error(d.States())
	}
	waits(1)
}

// What answers another stage of a node than that it is at, another request of it or a
// question about another node comes late, and changes nothing.
func TestLateAnswersChangeNothing(t *testing.T) {
	acknowledge := func(node dme.NodeID, number uint64) dme.Message {
		return dme.Message{Kind: kindAcknowledge, Node: node, Clock: number}
	}
	highest := dme.Message{Kind: kindHighest, Clock: 90, Flags: byMember}
	here := dme.Message{Kind: kindHere, Flags: byMember}
	welcome := func(d directed) { d.Do(vnet.Step{Kind: dme.Join, Node: 4}); d.ask(4) }
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
			d.Do(vnet.Step{Kind: dme.Crash, Node: 3})
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

// A newcomer that asked before it is synchronised would choose a number that is
// too small. Node 1 joins, sponsored by node 5. Nodes 4 and 3 have asked before
// they heard of it, with numbers 2 and 3, and what they sent to node 2 is late.
// Node 2 has asked with number 2 since: of the others that is all that the newcomer
// hears. If it chose number 3, it would have priority over node 3, which does not
// ask for its permission. In the broadcast form all numbers are less by 1.
func TestSynchronized(t *testing.T) {
	for _, way := range []string{"highest", "each", "rise", "time", "fourth"} {
		for _, insertion := range []string{"sponsor", "broadcast"} {
			t.Run(way+" "+insertion, func(t *testing.T) {
				d := direct(t, Robust(), map[string]string{"synchronized": way, "insertion": insertion}, vnet.Config{
					Nodes: 5, Absent: []dme.NodeID{1}, Bounded: true, Unordered: way != "fourth",
				})
				d.Do(vnet.Step{Kind: dme.Join, Node: 1})
				d.ask(1)
				near := []held{{kindHere, 2, 1}, {kindHere, 3, 1}, {kindHere, 4, 1}}
				d.run(nil, append(near, held{kind: kindSponsor}, held{kind: kindInsert})...)
				if insertion == "sponsor" {
					d.deliver(1, 5, kindSponsor)
					for j := dme.NodeID(2); j < 5; j++ {
						d.deliver(5, j, kindRequest)
						d.deliver(j, 5, kindReply)
					}
				}
				d.ask(4)
				d.deliver(4, 3, kindRequest)
				d.ask(3)
				late := []held{{kindRequest, 4, 2}, {kindRequest, 3, 2}, {kindHighest, 3, 1}, {kindHighest, 4, 1}, {kindHighest, 5, 1}}
				d.run(nil, late...)
				d.ask(2)
				d.run([]dme.NodeID{1, 3}, late...)
				d.run([]dme.NodeID{1, 3}, late[1:]...)
				if a := d.Activity(1); a != noderun.Requesting {
					t.Fatalf("node 1 is %v before it is synchronised", a)
				}
				d.run([]dme.NodeID{1, 3})
				if a := d.Activity(3); a != noderun.Inside {
					t.Fatalf("node 3 is %v\n%v", a, d.States())
				}
				d.run([]dme.NodeID{1})
				if a := d.Activity(1); a != noderun.Inside {
					t.Fatalf("node 1 is %v\n%v", a, d.States())
				}
			})
		}
	}
}

// Way b is over with the REQUEST of the last of the others, before its time is.
func TestOneRequestOfEach(t *testing.T) {
	d := direct(t, Robust(), map[string]string{"synchronized": "each"}, vnet.Config{
		Nodes: 3, Absent: []dme.NodeID{1}, Bounded: true, Unordered: true,
	})
	d.Do(vnet.Step{Kind: dme.Join, Node: 1})
	welcome := held{kind: kindWelcome}
	d.run(nil, welcome, held{kindHere, 3, 1})
	d.deliver(2, 1, kindWelcome)
	d.deliver(1, 2, kindAcknowledge)
	newcomer := d.Node(1).(*robustNode)
	for j := dme.NodeID(2); j <= 3; j++ {
		if newcomer.synchronized {
			t.Fatalf("node 1 is synchronized before it has heard from node %d", j)
		}
		d.ask(j)
		d.deliver(j, 1, kindRequest)
	}
	if !newcomer.synchronized {
		t.Errorf("node 1 waits for more\n%v", d.States())
	}
}
