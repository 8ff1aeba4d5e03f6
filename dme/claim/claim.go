// Package claim has the words in which the claims of papers stand beside their algorithms: a
// [Claim] says that a [Quantity] under a [Load] is, or is at most, or grows like, a formula, which
// is computed for a [dme.Setting]. A [List] of them is the Claims of a [dme.Algorithm], and [Of]
// returns it for drawing, checking and judging.
//
// It measures nothing: runs do, and the gauges of an algorithm. Package claims judges.
package claim

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"dmebench/dme"
)

// Load is the condition under which a claim is made.
type Load string

// The loads that the papers speak of.
const (
	Light      Load = "light"      // isolated requests
	Saturated  Load = "saturated"  // a node asks again as soon as it has left
	Burst      Load = "burst"      // all ask once, at about the same time
	Contention Load = "contention" // several ask at once
	Worst      Load = "worst case" // the worst run there is
	HotSpot    Load = "hot spot"   // isolated requests, most of them by few nodes
	Open       Load = "open"       // requests at random instants, at a rate that does not depend on the system
	AnyLoad    Load = "any"
	Faults     Load = "faults"
	Static     Load = "static" // a property of the construction, not of a run
)

// Kind says how a measurement is compared with a prediction.
type Kind string

// The kinds of claims.
const (
	Exact      Kind = "exact"
	Mean       Kind = "mean"
	UpperBound Kind = "upper bound"
	LowerBound Kind = "lower bound"
	Asymptotic Kind = "asymptotic"
)

// Growth is how a quantity grows with N: like a power or like the logarithm.
type Growth struct {
	Exponent float64 // of N; 0 with Log
	Log      bool    // like log N, to any base

	// Order says that the formula stands in an O(…): nothing grows faster, and the
	// coefficient is left open. Without it the formula is claimed as it is.
	Order bool
}

// Claim is one statement of a paper that can be checked: this quantity, under
// this load, is (or is at most, or grows like) this formula.
type Claim struct {
	Quantity Quantity
	Formula  string // as the paper writes it: "2(N−1), counting receivers"
	Load     Load
	Kind     Kind
	Source   string // paper and section

	// Name tells the claim from others about the same quantity, load and kind under
	// the same options; see [Claim.ID].
	Name string

	// Growth is what an Asymptotic claim says; zero for others.
	Growth Growth

	// Expression is what Formula predicts; empty for the first expression in Formula
	// itself. It is of N or n, the number of nodes, m, its cube root, K, the mean number
	// of nodes whose permission a node needs, T and E (in seconds, or of a SyncDelay in
	// units of T), with + − · / ², brackets, √, ⌊⌋, ⌈⌉ and log2: "(N−1)T + E". Of a
	// system without that variable, such as K of one without request sets, or T of one
	// node, nothing is predicted.
	Expression string

	// Applies says of what systems the claim is made; nil for all.
	Applies func(dme.Setting) bool

	// Predict stands for an Expression if the formula needs more than these variables. ok is false
	// if the claim does not apply.
	Predict func(dme.Setting) (value float64, ok bool)

	// Set is the algorithm's options under which the claim is made; nil for the defaults. Applies
	// or Predict is still to say no if it does not apply.
	Set map[string]string

	// FIFO restricts the claim to links that keep order, where the algorithm
	// itself does not need them to.
	FIFO bool

	// EqualDelays restricts the claim to links on which every message takes T.
	EqualDelays bool

	// Measure determines the quantity from the construction alone: for a Static claim it replaces
	// the measurement of runs. nil if runs must decide.
	Measure func(dme.Setting) (value float64, ok bool)

	// KnownFalse says why the claim does not hold; empty if it is not known to be false.
	KnownFalse string

	// Test names the test of the package that measures what neither a run's result nor Measure has;
	// empty if there is none or none is needed.
	Test string
}

// Agrees reports whether measured values between lo and hi are what a claim of this kind predicts;
// judged is false if telling takes more than a look: of a mean and of a growth. The only tolerance
// is that of floating point.
func (k Kind) Agrees(predicted, lo, hi float64) (agrees, judged bool) {
	slack := 1e-9 * max(1, math.Abs(predicted))
	above, below := lo >= predicted-slack, hi <= predicted+slack
	switch k {
	case Exact:
		return above && below, true
	case UpperBound:
		return below, true
	case LowerBound:
		return above, true
	}
	return false, false
}

func (c Claim) expression() []rune { return expressionIn(cmp.Or(c.Expression, c.Formula)) }

// Prediction returns what the claim predicts; ok is false if it is not made or gives no number.
func (c Claim) Prediction(s dme.Setting) (value float64, ok bool) {
	if c.Applies != nil && !c.Applies(s) {
		return 0, false
	}
	if c.Predict != nil {
		value, ok = c.Predict(s)
	} else {
		f := formula{c.expression(), func(name rune) (float64, bool) { return variable(s, c.Quantity, name) }}
		value, ok = f.sum()
	}
	return value, ok && !math.IsNaN(value) && !math.IsInf(value, 0)
}

func (c Claim) check() error {
	for _, f := range []struct{ name, value string }{
		{"quantity", c.Quantity.Name}, {"quantity's ID", c.Quantity.ID}, {"formula", c.Formula}, {"load", string(c.Load)},
		{"kind", string(c.Kind)}, {"source", c.Source},
	} {
		if f.value == "" {
			return fmt.Errorf("claim %q (%s): no %s", c.Formula, c.Source, f.name)
		}
	}
	if c.Predict == nil && c.expression() == nil {
		return fmt.Errorf("claim %q (%s): no expression that can be computed; give it an Expression or Predict", c.Formula, c.Source)
	}
	if (c.Kind == Asymptotic) != (c.Growth != Growth{}) {
		return fmt.Errorf("claim %q (%s): asymptotic claims say how it grows, and no others", c.Formula, c.Source)
	}
	return nil
}

// SafeAndLive returns what every paper claims of its algorithm.
func SafeAndLive(source string) List {
	return List{
		Violations.Is("0: mutual exclusion", AnyLoad, source),
		Unserved.Is("0: neither deadlock nor starvation", AnyLoad, source),
	}
}

// InOrder returns the claim that entries are in the order of their requests.
func InOrder(formula, source string) Claim {
	return EntryOrder.Is(formula, AnyLoad, source)
}

// CostPerPeer returns the claim that an entry costs the given number of messages for each
// other node: "2(N−1)".
func CostPerPeer(messages float64, load Load, kind Kind, source string) Claim {
	formula := "N−1"
	if messages != 1 {
		formula = fmt.Sprintf("%v(N−1)", messages)
	}
	return MessagesPerCS.Claim(kind, formula, load, source)
}

// HandOver returns the claims about a synchronization delay of a multiple of T and what the textbook's
// section 9.2.3 concludes from it: a throughput of 1/(SD + E), and so a response time of N(SD + E)
// if all N nodes always have a request. The delay is the mean or, with kind UpperBound, at most
// that.
//
// Load is heavy where a request waits at every exit: nothing is claimed where T and E are known and
// the N−1 entries of the others are over before a node's next request can have been answered.
func HandOver(delays float64, kind Kind, source string) List {
	sd, opposite := "T", kind
	if delays != 1 {
		sd = fmt.Sprintf("%vT", delays)
	}
	if kind == UpperBound {
		opposite = LowerBound
	}
	heavy := func(s dme.Setting) bool {
		t, e := s.T.Seconds(), s.E.Seconds()
		return float64(s.Nodes-1)*(delays*t+e) >= 4*t
	}
	follows := source + "; textbook, section 9.2.3"
	return List{
		SyncDelay.Claim(kind, sd, Saturated, source).Where(heavy),
		Throughput.Claim(opposite, "1/("+sd+" + E)", Saturated, follows).Where(heavy),
		ResponseTime.Claim(kind, "N("+sd+" + E)", Saturated, follows).Where(heavy),
	}
}

// KindsPerCS returns a claim like c about each of the kinds of messages.
func KindsPerCS(c Claim, kinds ...string) List {
	var all List
	for _, kind := range kinds {
		c.Quantity = KindPerCS(kind)
		all = append(all, c)
	}
	return all
}

// The functions below state claims in the way of a table, a row for each: a quantity, in what sense
// the formula says how large it is, under which load, by which source; and then what limits the
// claim, if something does.

// Is claims that the quantity is exactly that large, always.
func (q Quantity) Is(formula string, load Load, source string) Claim {
	return q.Claim(Exact, formula, load, source)
}

// Averages claims that the quantity is that large on average.
func (q Quantity) Averages(formula string, load Load, source string) Claim {
	return q.Claim(Mean, formula, load, source)
}

// AtMost claims an upper bound on the quantity.
func (q Quantity) AtMost(formula string, load Load, source string) Claim {
	return q.Claim(UpperBound, formula, load, source)
}

// AtLeast claims a lower bound on the quantity.
func (q Quantity) AtLeast(formula string, load Load, source string) Claim {
	return q.Claim(LowerBound, formula, load, source)
}

// Grows claims that the quantity grows like the formula.
func (q Quantity) Grows(growth Growth, formula string, load Load, source string) Claim {
	c := q.Claim(Asymptotic, formula, load, source)
	c.Growth = growth
	return c
}

// Claim makes a claim of any kind.
func (q Quantity) Claim(kind Kind, formula string, load Load, source string) Claim {
	return Claim{Quantity: q, Formula: formula, Load: load, Kind: kind, Source: source}
}

// As returns the claim with an Expression.
func (c Claim) As(expression string) Claim {
	c.Expression = expression
	return c
}

// Named returns the claim under a name of its own.
func (c Claim) Named(name string) Claim {
	c.Name = name
	return c
}

// With returns the claim as made under these options: "quorum=majority".
func (c Claim) With(options ...string) Claim {
	c.Set = make(map[string]string, len(options))
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		c.Set[name] = value
	}
	return c
}

// OnFIFO returns the claim as made of links that keep order.
func (c Claim) OnFIFO() Claim {
	c.FIFO = true
	return c
}

// OnEqualDelays returns the claim as made of links on which every message takes T.
func (c Claim) OnEqualDelays() Claim {
	c.EqualDelays = true
	return c
}

// Where returns the claim as made only if applies says so, too.
func (c Claim) Where(applies func(dme.Setting) bool) Claim {
	before := c.Applies
	c.Applies = func(s dme.Setting) bool { return (before == nil || before(s)) && applies(s) }
	return c
}

// Predicting returns the claim with a prediction of its own.
func (c Claim) Predicting(predict func(dme.Setting) (value float64, ok bool)) Claim {
	c.Predict = predict
	return c
}

// MeasuredBy returns the claim with a measurement of the construction.
func (c Claim) MeasuredBy(measure func(dme.Setting) (value float64, ok bool)) Claim {
	c.Measure = measure
	return c
}

// Refuted returns the claim as known to be false.
func (c Claim) Refuted(why string) Claim {
	c.KnownFalse = why
	return c
}

// TestedBy returns the claim as measured by a test of the package.
func (c Claim) TestedBy(test string) Claim {
	c.Test = test
	return c
}

// AtLeastTwo reports whether messages are sent at all.
func AtLeastTwo(s dme.Setting) bool { return s.Nodes >= 2 }

// PerEntry estimates the messages of an entry under a load, AnyLoad for any, from what the claims
// say of it: a bound only if nothing sharper is said. It is 0 if they say nothing.
func PerEntry(a *dme.Algorithm, s dme.Setting, load Load) float64 {
	var said, bound float64
	for _, c := range Of(a) {
		if c.Quantity != MessagesPerCS || load != AnyLoad && c.Load != load && c.Load != AnyLoad {
			continue
		}
		if x, ok := c.Prediction(s); ok && (c.Kind == UpperBound || c.Kind == LowerBound) {
			bound = max(bound, x)
		} else if ok {
			said = max(said, x)
		}
	}
	return cmp.Or(said, bound)
}
