package run

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/foreign"
)

// Runnable is Lookup for whoever runs algorithms over networks: it also finds the one
// whose nodes are programs in other languages.
func (c Catalog) Runnable(name string) (*dme.Algorithm, error) {
	if foreign.Is(name) {
		return foreign.Algorithm(name), nil
	}
	return c.Lookup(name)
}

// checkForeign refuses what nodes in other languages cannot do.
func (j *Job) checkForeign() error {
	if !foreign.Is(j.Algorithm.Name) || j.Network.Real() {
		return nil
	}
	return &CannotRun{Why: fmt.Errorf("%s: nodes in other languages are processes that take their own time; "+
		"%s has virtual time, which only nodes of this program can live in", j.Algorithm.Name, j.Network.Name),
		advice: "choose --transport tcp, udp or nats"}
}
