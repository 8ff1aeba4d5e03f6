package trace

import (
	"strings"
	"testing"

	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// Invariants are judged in scenarios: the one that a scenario is to break, all where
// it is to break nothing, and none where links do what the algorithm rules out.
func TestScenariosAreJudgedByInvariants(t *testing.T) {
	a := suzukikasami.Algorithm()
	a.Invariants = append(a.Invariants, dme.Invariant{
		Name: "never at 3", Holds: func(v dme.GlobalView) error {
			if a.HasToken(v.Node(3)) {
				return dme.Broken([]dme.NodeID{3}, "node 3 has the token")
			}
			return nil
		},
	})
	const (
		head  = "# a test\nalgorithm suzuki-kasami\nnodes 3\n"
		fetch = "request 3\ndeliver 3->1\ndeliver 1->3\n"
		said  = "never at 3: node 3 has the token"
	)
	for _, x := range []struct {
		text string
		want string // of the outcomes; where it begins with "trace:", of the error
	}{
		{head + "violates never at 3\n" + fetch, "\n  violation: " + said + "\n"},
		{head + "violates never at 3\nrequest 2\nrequest 3\ndeliver 3->1\ndeliver 1->3\n", "\n  violation: " + said + "\n"},
		{head + "violates never at 3\nrequest 3\n", "no violation of never at 3"},
		{head + fetch, "trace: t:6: deliver 1->3: " + said},
		{head + "violates mutual exclusion\n" + fetch, "no violation of mutual exclusion"},
		{head + "request 2\nlose 2->3\n" + fetch, "enter 3"},
		{head + "violates nothing\n" + fetch, `trace: t:4: "nothing" is not a property; there are mutual exclusion, entry on request only`},
		{head + "violates nothing\n" + fetch, "one token, request numbers, executed requests, token queue, never at 3"},
		{head + "violates\n" + fetch, "trace: t:4: violates takes the name of a property"},
	} {
		played := new(Played)
		s, err := Parse("t", []byte(x.text))
		if err == nil {
			played, err = s.Play(a, nil)
		}
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = string(played.Text)
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s\ngives\n%s\nwant %q", x.text, got, x.want)
		}
	}
}
