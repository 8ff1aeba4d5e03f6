package ricartagrawala

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
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

func (d directed) wantInside(want ...dme.NodeID) {
	d.t.Helper()
	if got := d.Inside(); !slices.Equal(got, want) {
		d.t.Fatalf("%v are in the critical section, want %v\n%v", got, want, strings.Join(d.States(), "\n"))
	}
}

// The sponsor admits the newcomer when all have acknowledged that they have added
// it. Node 3 asks before it has: the newcomer must know of that request.
func TestSponsorWaitsForAcknowledgements(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 3, Absent: []dme.NodeID{1}, Bounded: true, Unordered: true})
	insert, request := held{kindInsert, 2, 3}, held{kind: kindRequest, from: 1}
	d.Do(vnet.Step{Kind: vnet.Join, Node: 1})
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
	d.Do(vnet.Step{Kind: vnet.Crash, Node: 3})
	d.run(nil)
	d.ask(1)
	d.deliver(1, 2, kindRequest)
	d.deliver(2, 1, kindReply)
	d.fire(1) // the first period
	d.fire(1) // the first leg of the second
	d.Do(vnet.Step{Kind: vnet.Restart, Node: 3})
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

func (d directed) fire(id dme.NodeID) {
	d.t.Helper()
	x := vnet.Step{Kind: vnet.Fire, Node: id, Timer: answerDue}
	if !d.Possible(x) {
		d.t.Fatalf("%v is not possible; on its way: %v", x, d.InFlight())
	}
	d.Do(x)
}

// A sponsor fails when it has sent WELCOME, comes back at once, and another
// inserts the next newcomer before the WELCOME arrives: its list lacks that one.
func TestWelcomeOfASponsorThatFailed(t *testing.T) {
	d := direct(t, Robust(), nil, vnet.Config{Nodes: 4, Absent: []dme.NodeID{1, 2}, Bounded: true, Unordered: true})
	welcome, second, here := held{kindWelcome, 3, 1}, held{kindSponsor, 2, 4}, held{kindHere, 4, 1}
	for id := dme.NodeID(1); id <= 2; id++ {
		d.Do(vnet.Step{Kind: vnet.Join, Node: id})
		d.ask(id)
	}
	d.run(nil, second, here, held{kindHere, 3, 2}, held{kind: kindSponsor, from: 1})
	d.run(nil, welcome, second, here, held{kindHere, 3, 2})
	d.find(3, 1, kindWelcome)
	d.Do(vnet.Step{Kind: vnet.Crash, Node: 3})
	d.Do(vnet.Step{Kind: vnet.Restart, Node: 3})
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
	d.Do(vnet.Step{Kind: vnet.Join, Node: 2})
	d.Do(vnet.Step{Kind: vnet.Join, Node: 1})
	d.ask(1)
	d.ask(2)
	d.run(nil, sponsor, who)
	d.deliver(2, 3, kindSponsor)
	d.Do(vnet.Step{Kind: vnet.Crash, Node: 3})
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
	d.Do(vnet.Step{Kind: vnet.Lose, From: 2, Node: 1})
	d.ask(1)
	d.run([]dme.NodeID{1, 2})
	d.wantInside(1)
	d.run([]dme.NodeID{2})
	d.wantInside(2)
}

// Where messages keep no bound, a node that is alive may be removed: it is told so
// when it asks, and returns as a newcomer.
func TestRemovedNodeReturns(t *testing.T) {
	for _, told := range []dme.Kind{kindFailed, kindRestart} {
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
		if told == kindRestart {
			d.Do(vnet.Step{Kind: vnet.Lose, From: 1, Node: 3, Index: d.find(1, 3, kindFailed)})
		}
		d.run(nil, late, held{kindAreYouThere, 1, 3})
		if n := d.Node(3).(*robustNode); n.admitted != (told == kindRestart) && n.group.Len() != 2 {
			t.Errorf("node 3: %v", dme.DescribeState(n))
		}
		d.ask(3)
		d.run(nil)
		if w := d.Waiting(); len(w) > 0 {
			t.Errorf("told by %s: %v wait", Robust().KindName(told), w)
		}
		for id := range d.IDs() {
			if n := d.Node(id).(*robustNode); n.group.Len() != 2 || !n.admitted || !n.synchronized {
				t.Errorf("told by %s, node %d: %v", Robust().KindName(told), id, dme.DescribeState(n))
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
				if e.Kind == dme.EffectSetTimer {
					set = e.Delay
				}
				entered = entered || e.Kind == dme.EffectEnter
			}
			if entered {
				break
			}
			waited += set
			n.(dme.Timed).Timeout(answerDue, &out)
		}
		opt, _ := a.Resolve(set)
		for _, c := range a.Claims {
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

// Among equal numbers NAMES decides.
func TestNames(t *testing.T) {
	for names, want := range map[string][]dme.NodeID{"auto": {1, 2, 3}, "30,10,20": {2, 3, 1}} {
		net := conformance.Make(t, Robust(), 3, map[string]string{"names": names})
		for id := dme.NodeID(1); id <= 3; id++ {
			net.Request(id)
		}
		for _, id := range want {
			net.Settle()
			net.WantInside(t, id)
			net.Release(id)
		}
	}
	for names, ok := range map[string]bool{
		"auto": true, "7,5": true, "2,1": true, "5,5": false, "0,1": false, "0,2": false, "1,2,3": false, "a,b": false, "": false,
		"1,4294967296": false,
	} {
		if _, err := Robust().New(2, 1, map[string]string{"names": names}); (err == nil) != ok {
			t.Errorf("names=%s: %v", names, err)
		}
	}
}

func TestRobustRefusals(t *testing.T) {
	message := func(kind dme.Kind, number uint64, node dme.NodeID) dme.Message {
		return dme.Message{Kind: kind, Clock: number, Node: node}
	}
	conformance.TestRefusals(t, 2, 1, second(t, Robust(), 3, nil, 1), map[string][]dme.Message{
		"REQUEST without a number":        {message(kindRequest, 0, 0)},
		"REPLY to a request not made":     {message(kindReply, 3, 0)},
		"REPLY twice, and to one to come": {message(kindReply, 2, 0), message(kindReply, 2, 0), message(kindReply, 9, 0)},
		"FAILED of nobody":                {message(kindFailed, 0, 9)},
		"INSERT of nobody":                {message(kindInsert, 1, 0)},
	})
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
	d.Do(vnet.Step{Kind: vnet.Join, Node: 1})
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
