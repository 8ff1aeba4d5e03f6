// Package catalog is the literal list of the built-in algorithms.
package catalog

import (
	"dmebench/algorithms"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
)

// All returns the built-in algorithms in the order in which they are listed:
// the two simple methods first, then by class.
func All() []*algorithms.Algorithm {
	return []*algorithms.Algorithm{
		centralized.Algorithm(),
		tokenring.Algorithm(),
		ricartagrawala.Algorithm(),
		suzukikasami.Algorithm(),
		raymond.Algorithm(),
		maekawa.Algorithm(),
	}
}
