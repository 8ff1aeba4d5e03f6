package lease

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	optBound   = "bound"
	optLease   = "lease"
	optDrift   = "drift"
	optFencing = "fencing"
	auto       = "auto"
)

// perLease is how many delay bounds make up a lease whose length was not chosen: half of it has
// room for a CONFIRM and its answer.
const perLease = 4

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "majority-lease",
		Title: "Majority lease",
		Description: "A lock service without servers: each node asks all, enters with the grants of a majority, and keeps them by " +
			"renewing a lease. " +
			"What a crashed node holds is free again a lease later, so the rest goes on while a majority is up, and nobody has to notice the " +
			"crash. An entry costs 3(N-1) messages and two for each other member of a majority, and four delays: the second round " +
			"trip confirms a fencing token. A node that stands " +
			"still for longer than its lease overlaps with the next; the token lets a resource refuse what it writes then. With " +
			"fencing=false an update is lost.",
		Citation: "C. G. Gray, D. R. Cheriton: Leases, 12th ACM SOSP, 1989; M. Burrows: The Chubby Lock Service, 7th USENIX OSDI, " +
			"2006, section 2.4",
		Class: dme.Quorum,
		Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true, BoundedDelay: true}),
		Kinds: []string{"REQUEST", "GRANT", "RECALL", "YIELD", "CONFIRM", "CONFIRMED", "RENEW", "EXPIRED", "RELEASE"},
		Options: []dme.Option{
			{
				Name: optBound, Default: auto, Words: []string{auto}, Forms: []string{"DURATION"}, Valid: dme.Valid(parseTime),
				Help: "the longest time that a message takes, its handling included; auto is what the network guarantees",
			},
			{
				Name: optLease, Default: auto, Words: []string{auto}, Forms: []string{"DURATION"}, Valid: dme.Valid(parseTime),
				Help: "how long a grant lasts that is not renewed; auto is " + strconv.Itoa(perLease) + " times the bound",
			},
			{
				Name: optDrift, Default: "1000", Forms: []string{"PPM"}, Valid: dme.Valid(parseDrift),
				Help: "by how much the rates of two clocks may differ, in millionths; an arbiter counts that much longer",
			},
			// Without tokens the algorithm is not safe: false is not among what is tried everywhere.
			{
				Name: optFencing, Default: "true", Words: []string{"true"}, Forms: []string{"false"}, Valid: validFencing,
				Help: "whether the resource is shown the fencing token of each entry, by which it can refuse what is written after a lease",
			},
		},
		Survives:    func(s dme.Setting, down []dme.NodeID) bool { return 2*(s.Nodes-len(down)) > s.Nodes },
		Fencing:     fenced,
		QueueLength: dme.OfNode((*node).QueueLength),
		Waits:       dme.OfNode((*node).Waits),
		Clocks:      clocks,
		Claims:      claim.Lazy(claims),
		Invariants:  invariants(),
		Prepare:     prepare,
	}
}

func fenced(o dme.Options) bool { return o.Get(optFencing) == "true" }

var (
	parseTime  = dme.Lasting(1, time.Hour)
	parseDrift = dme.Whole(0, 1e6)
)

func validFencing(value string) error {
	if value != "false" {
		return errors.New("neither true nor false")
	}
	return nil
}

type system struct {
	terms
	members []dme.NodeID
}

func prepare(c dme.Config) (dme.System, error) {
	lease := perLease * cmp.Or(c.Bound, time.Second) // over a network that guarantees nothing, without a bound given, a second
	if d, err := parseTime(c.Options.Get(optBound)); err == nil {
		lease = perLease * d
	}
	if d, err := parseTime(c.Options.Get(optLease)); err == nil {
		lease = d
	}
	drift, err := parseDrift(c.Options.Get(optDrift))
	if err != nil {
		return nil, err
	}
	arbiters := lease + time.Duration(float64(drift)/1e6*float64(lease))
	return &system{terms{lease / 2, arbiters}, slices.Collect(dme.Others(c.Nodes, dme.None))}, nil
}

// Node returns node id, idle and free.
func (s *system) Node(id dme.NodeID) dme.Node {
	n := len(s.members)
	return &node{
		Site: quorum.Site{ID: id, Members: s.members}, terms: s.terms,
		granted: collections.MakeNodeSet(n), confirmed: collections.MakeNodeSet(n), nextToken: 1,
	}
}

func claims() claim.List {
	const source = "package lease"
	const leases = "Gray, Cheriton 1989"
	each := func(formula string) claim.Claim { return claim.MessagesPerCS.Is(formula, claim.Light, source) }
	return slices.Concat(
		claim.SafeAndLive(source),
		claim.List{
			claim.MessagesPerCS.Is("3(N−1) + 2⌊N/2⌋", claim.Light, source+", steps 1 to 7"),
			// REQUEST and GRANT, CONFIRM and CONFIRMED.
			claim.ResponseTime.Is("4T + E", claim.Light, source+", with the textbook's section 9.2.3").Where(claim.AtLeastTwo).OnEqualDelays(),
			claim.Violations.Is("0, whichever nodes fail, within the bound", claim.Faults, leases+", section 2"),
			claim.Unserved.Is("0 while a majority is up: what failed nodes hold expires", claim.Faults, leases+", section 2"),
		},
		claim.KindsPerCS(each("N−1"), "REQUEST", "GRANT", "RELEASE"),
		claim.KindsPerCS(each("⌊N/2⌋"), "CONFIRM", "CONFIRMED"),
		claim.KindsPerCS(each("0"), "RECALL", "YIELD", "RENEW", "EXPIRED"),
	)
}

func invariants() []dme.Invariant {
	const source = "package lease: tokens"
	distinct := dme.PairInvariant("distinct fencing tokens", source,
		"of two nodes inside, one has the larger fencing token: a resource refuses the other, and no update is lost",
		func(v dme.GlobalView, i, j dme.NodeID, a, b *node) error {
			if i < j && a.phase == inside && b.phase == inside && a.token == b.token {
				return dme.Broken([]dme.NodeID{i, j}, "nodes %d and %d are inside with one fencing token, %d", i, j, a.token)
			}
			return nil
		})
	distinct.Fencing = true
	// This makes them distinct.
	confirmed := dme.StateInvariant("confirmed by a majority", source,
		"a majority of arbiters has seen the token of a node inside, but for those that are down",
		func(v dme.GlobalView) error {
			for id, n := range dme.NodesOf[*node](v) {
				if n.phase != inside {
					continue
				}
				behind := 0
				for _, arbiter := range dme.NodesOf[*node](v) {
					behind += dme.Count(arbiter.nextToken <= n.token)
				}
				if behind >= n.majority() {
					return dme.Broken([]dme.NodeID{id}, "node %d is inside with token %d, which %d of %d nodes have not seen",
						id, n.token, behind, len(n.Members))
				}
			}
			return nil
		})
	all := []dme.Invariant{distinct, confirmed}
	for k := range all {
		all[k].Faults = true
	}
	return all
}
