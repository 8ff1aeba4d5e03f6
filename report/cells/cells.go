// Package cells forwards to [result.Key].
package cells

import "dmebench/result"

// Dimension is one thing in which cells may differ.
type Dimension struct{ Name string }

// Of returns the dimension's value, "" where it was not given.
func (d Dimension) Of(s result.Spec) string { return result.KeyOf(s).Get(d.Name) }

// Dimensions lists everything that makes a cell what it is.
func Dimensions() []Dimension {
	var all []Dimension
	for _, name := range result.Dimensions() {
		all = append(all, Dimension{name})
	}
	return all
}

// Key identifies the cell of a specification; across names dimensions that do
// not count.
func Key(s result.Spec, across ...string) string { return result.KeyOf(s).Without(across...).String() }

// Place identifies where and under which load a cell was run.
func Place(s result.Spec) string { return result.KeyOf(s).Place().String() }

// Spec is what a run was asked to do.
func Spec(r *result.Result) result.Spec { return r.Asked() }
