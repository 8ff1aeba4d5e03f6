package algorithms

import (
	"fmt"
	"time"
)

// Quantity is what a claim speaks of.
type Quantity string

// The quantities that the papers make claims about. Times are in seconds,
// a synchronization delay is in units of T, throughput in entries per second.
const (
	MessagesPerCS      Quantity = "messages per CS"
	TransmissionsPerCS Quantity = "transmissions per CS"
	SyncDelay          Quantity = "synchronization delay / T"
	ResponseTime       Quantity = "response time"
	Throughput         Quantity = "throughput"
	QuorumSize         Quantity = "quorum size"
	QueueLength        Quantity = "queue length"
	MessageLength      Quantity = "message length"
	Bypass             Quantity = "bypass"
	EntryOrder         Quantity = "entries out of timestamp order"
)

// KindPerCS is the quantity "messages of one kind per CS".
func KindPerCS(kind string) Quantity { return Quantity(kind + " messages per CS") }

// Load is the condition under which a claim is made.
type Load string

// The loads that the papers speak of.
const (
	Light      Load = "light"      // isolated requests
	Saturated  Load = "saturated"  // a node asks again as soon as it has left
	Burst      Load = "burst"      // all ask once, at about the same time
	Contention Load = "contention" // several ask at once
	Worst      Load = "worst case" // the worst run there is
	AnyLoad    Load = "any"
	Faults     Load = "faults"
	Static     Load = "static" // a property of the construction, not of a run
)

// ClaimKind says how a measurement is compared with a prediction.
type ClaimKind string

// The kinds of claims.
const (
	Exact      ClaimKind = "exact"
	Mean       ClaimKind = "mean"
	UpperBound ClaimKind = "upper bound"
	LowerBound ClaimKind = "lower bound"
	Asymptotic ClaimKind = "asymptotic"
)

// Setting is what a prediction may depend on.
type Setting struct {
	Nodes   int
	Options Options
	System  System // as prepared for Nodes and Options

	T time.Duration // mean one-way delay of a message, where the claim needs it
	E time.Duration // mean duration of a critical section, where the claim needs it
}

// Claim is one statement of a paper that can be checked: this quantity, under
// this load, is (or is at most, or grows like) this formula.
type Claim struct {
	Quantity Quantity
	Formula  string // as the paper writes it, in N, K, T, E: "2(N−1)"
	Load     Load
	Kind     ClaimKind
	Source   string // paper and section

	// Predict evaluates the formula. ok is false where the claim does not
	// apply: another option, an N for which it is not made.
	Predict func(Setting) (value float64, ok bool)

	// Set is the algorithm's options under which the claim is made; nil for the
	// defaults. Predict is still to say no where it does not apply.
	Set map[string]string

	// Measure determines the quantity from the construction alone: of a Static
	// claim, it is what a measurement is of others. nil where a run must tell.
	Measure func(Setting) (value float64, ok bool)

	// KnownFalse says why the claim does not hold; empty where it is not known
	// to be false.
	KnownFalse string
}

func (c Claim) check() error {
	for _, f := range []struct{ name, value string }{
		{"quantity", string(c.Quantity)}, {"formula", c.Formula}, {"load", string(c.Load)},
		{"kind", string(c.Kind)}, {"source", c.Source},
	} {
		if f.value == "" {
			return fmt.Errorf("claim %q (%s): no %s", c.Formula, c.Source, f.name)
		}
	}
	if c.Predict == nil {
		return fmt.Errorf("claim %q (%s): no prediction", c.Formula, c.Source)
	}
	return nil
}

// PerN is a prediction that depends on N alone.
func PerN(f func(n float64) float64) func(Setting) (float64, bool) {
	return func(s Setting) (float64, bool) { return f(float64(s.Nodes)), true }
}

// Constantly is a prediction that depends on nothing.
func Constantly(value float64) func(Setting) (float64, bool) {
	return func(Setting) (float64, bool) { return value, true }
}
