package chaudhurikaraata

import (
	"fmt"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) {
	for _, a := range []*dme.Algorithm{Algorithm(), AsPublished()} {
		t.Run(a.Name, func(t *testing.T) { conformance.Test(t, a) })
	}
}

// The default mesh has few planes where nodes are few. A line of corners, and
// planes that are lines, have as many as there can be.
func TestConformanceOnLongMeshes(t *testing.T) {
	for _, plane := range []int{1, 2} {
		t.Run(fmt.Sprintf("planes of %d", plane), func(t *testing.T) {
			a := Algorithm()
			a.ValidNodes = nil
			a.Options, a.Searched = a.Options[1:2], nil // the repairs
			a.Prepare = func(c dme.Config) (dme.System, error) {
				sizes := []int{1, plane, (c.Nodes + plane - 1) / plane}
				return newSystem(sizes, c.Nodes, repair(c.Options.Get(optRepair))), nil
			}
			conformance.Test(t, a)
		})
	}
}
