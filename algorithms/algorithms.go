// Package algorithms is the list of the built-in algorithms, and the worked examples of their
// papers, which stand beside the algorithms' packages with the files that they name.
package algorithms

import (
	"embed"
	"slices"

	"dmebench/algorithms/agrawalelabbadi"
	"dmebench/algorithms/caosinghal"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/composition"
	"dmebench/algorithms/helaryplouzeauraynal"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/lease"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/neilsenmizuno"
	"dmebench/algorithms/prioritisedtoken"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/ricartagrawalatoken"
	"dmebench/algorithms/singhal"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
)

// Scenarios are the worked examples, by their paths from this folder.
//
//go:embed */testdata/*.txt */testdata/*/*.txt
var Scenarios embed.FS

// All returns the built-in algorithms in the order in which they are listed:
// the two simple methods first, then by class.
func All() []*dme.Algorithm {
	all := []*dme.Algorithm{
		centralized.Algorithm(),
		tokenring.Algorithm(),
		lamport.Algorithm(),
		lamport.Optimized(),
		ricartagrawala.Algorithm(),
		ricartagrawala.Implicit(),
		ricartagrawala.Broadcast(),
		ricartagrawala.Ring(),
		ricartagrawala.Bounded(),
		ricartagrawala.Priority(),
		ricartagrawala.ReadersWriters(),
		ricartagrawala.Robust(),
		ricartagrawala.CarvalhoRoucairol(),
		ricartagrawalatoken.Algorithm(),
		suzukikasami.Algorithm(),
		raymond.Algorithm(),
		raymond.Robust(),
		naimitrehel.Algorithm(),
		neilsenmizuno.Algorithm(),
		prioritisedtoken.Algorithm(),
		singhal.Algorithm(),
		lodhakshemkalyani.Algorithm(),
		maekawa.Algorithm(),
		caosinghal.Algorithm(),
		agrawalelabbadi.Algorithm(),
		chaudhurikaraata.Algorithm(),
		helaryplouzeauraynal.Algorithm(),
		lease.Algorithm(),
		maekawa.AsPublished(),
		maekawa.TextbookAsPublished(),
		agrawalelabbadi.AsPublished(),
		chaudhurikaraata.AsPublished(),
		singhal.AsPublished(),
		lodhakshemkalyani.AsPublished(),
		ricartagrawala.BoundedAsPublished(),
		ricartagrawala.RobustAsPublished(),
	}
	parts := composition.Parts(all)
	first := slices.IndexFunc(parts, func(a *dme.Algorithm) bool { return a.Name == "naimi-trehel" })
	parts[0], parts[first] = parts[first], parts[0]
	at := slices.IndexFunc(all, func(a *dme.Algorithm) bool { return a.AsPublished })
	return slices.Insert(all, at, composition.Algorithm(parts))
}
