// Package validate asks of every claim that stands beside an algorithm whether
// it holds, and answers with what was measured.
//
// It plans which runs the claims need, carries each out once for all claims
// that it serves, and compares. What it compares with comes from the claims: it
// knows no formula and no algorithm. A claim is asked at several numbers of nodes
// and under every way there is here to make its load; a mean is compared by
// means of a confidence interval over repetitions, a bound with the most extreme
// run, an exact value with all runs, a growth by fits over the sizes.
//
// Guarantees: no verdict without a measurement; what cannot be measured or was
// not run says why; a claim that is known to be false is measured like any
// other. The verdicts follow from the options and the seed, except where the
// budget of time runs out, which the document says.
//
// Beside its own claims every algorithm has two more: that it is safe and that
// it is live, judged over all its runs.
//
// What it does not do: faults. Claims about failures are measured where the
// construction tells, and otherwise wait.
package validate
