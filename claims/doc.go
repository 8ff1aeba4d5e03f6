// Package claims judges what papers say of their algorithms by what runs
// measured. It says which claims speak of a run ([Circumstance]), how a quantity
// is read from its result ([Read]), how a claim stands at one number of nodes
// under one condition ([Cell.Compare]), and what follows from all of these
// ([Question.Judge]).
//
// It knows no formula and no algorithm: both come with the claims. A mean is
// compared by means of a confidence interval over repetitions, a bound with the
// most extreme run, an exact value with all runs, a growth by fits over the sizes.
// It runs nothing, and imports neither a transport nor the simulator.
package claims
