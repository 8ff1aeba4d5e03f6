// Package catalog is the literal list of the built-in algorithms.
package catalog

import (
	"dmebench/algorithms"
	"dmebench/algorithms/carvalhoroucairol"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/helaryplouzeauraynal"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/ricartagrawalatoken"
	"dmebench/algorithms/singhal"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
)

// All returns the built-in algorithms in the order in which they are listed:
// the two simple methods first, then by class.
func All() []*algorithms.Algorithm {
	return []*algorithms.Algorithm{
		centralized.Algorithm(),
		tokenring.Algorithm(),
		lamport.Algorithm(),
		lamport.Optimized(),
		ricartagrawala.Algorithm(),
		carvalhoroucairol.Algorithm(),
		ricartagrawalatoken.Algorithm(),
		suzukikasami.Algorithm(),
		raymond.Algorithm(),
		naimitrehel.Algorithm(),
		singhal.Algorithm(),
		lodhakshemkalyani.Algorithm(),
		maekawa.Algorithm(),
		chaudhurikaraata.Algorithm(),
		helaryplouzeauraynal.Algorithm(),
		chaudhurikaraata.AsPublished(),
		singhal.AsPublished(),
		lodhakshemkalyani.AsPublished(),
	}
}
