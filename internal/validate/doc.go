// Package validate says of every claim of an algorithm whether it holds, by what
// it measures.
//
// It plans which runs the claims need, carries each out once for all claims that
// it serves, keeps it in a store, and has package claims judge. Runs that the
// store has already, of a validation that was interrupted, are not carried out
// again. It knows no formula and no algorithm. A claim is tried at several
// numbers of nodes, and under every load there is here of the kind that it
// speaks of.
//
// Guarantees: no verdict without a measurement; what cannot be measured or was
// not run says why; a claim that is known to be false is measured like any
// other. The verdicts follow from the options and the seed, except where the
// budget of time runs out, which the document says.
//
// Beside its own claims every algorithm has two more: that it is safe and that
// it is live, judged over all its runs.
//
// Bounds on overtaking are tried on every schedule of two and three nodes besides,
// which reaches what runs seldom come near.
//
// What it does not do: faults. Claims about failures are measured where the
// construction tells, and otherwise wait.
package validate
