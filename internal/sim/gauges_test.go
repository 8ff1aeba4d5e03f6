package sim

import (
	"encoding/json"
	"testing"

	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/result"
)

// Gauges are read where that is asked for, and change nothing in the run.
func TestGauges(t *testing.T) {
	spec := result.Spec{Nodes: 8, Requests: 240, Set: map[string]string{"delay": "uniform"}}
	for _, a := range []*dme.Algorithm{chaudhurikaraata.Algorithm(), ricartagrawala.Algorithm()} {
		spec.Algorithm = a.Name
		spec.Set["gauges"] = "off"
		plain := simulate(t, spec, a)
		spec.Set["gauges"] = "on"
		gauged := simulate(t, spec, a)
		for _, g := range a.Gauges {
			if _, ok := plain.Figures[g.Quantity.ID]; ok {
				t.Errorf("%s: %s was measured although nobody asked", a.Name, g.Quantity)
			}
			// Requests overlap, so that no change of plane can be told from another.
			if _, ok := gauged.Figures[g.Quantity.ID]; ok == (g.Quantity == chaudhurikaraata.PlaneChange) {
				t.Errorf("%s: %s was measured: %v", a.Name, g.Quantity, ok)
			}
		}
		if a.Name == "chaudhuri-karaata" && gauged.Figures["privileged-planes"] != 1 {
			t.Errorf("%v", gauged.Figures)
		}
		plain.Figures, gauged.Figures, plain.Spec, gauged.Spec = nil, nil, result.Spec{}, result.Spec{}
		one, _ := json.Marshal(plain)
		other, _ := json.Marshal(gauged)
		if string(one) != string(other) {
			t.Errorf("%s: the run is another one:\n%s\n%s", a.Name, one, other)
		}
	}
}
