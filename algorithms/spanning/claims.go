package spanning

import "dmebench/dme"

// On is a prediction from the tree of a system, or a measurement of it.
func On(f func(*Tree) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		sys, ok := s.System.(interface{ SpanningTree() *Tree })
		if !ok {
			return 0, false
		}
		return f(sys.SpanningTree()), true
	}
}

// Shaped is about trees of one shape.
func Shaped(tree string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Options.Get(OptTree) == tree }
}
