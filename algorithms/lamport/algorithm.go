package lamport

import "dmebench/dme"

// Algorithm describes Lamport's algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(false)
	a.Name, a.Title = "lamport", "Lamport"
	a.Claims = append(a.Claims, exactly()...)
	return a
}

// Optimized describes Lamport's algorithm with the optimization of section 9.3,
// which omits a REPLY where the receiver's own REQUEST serves as well.
func Optimized() *dme.Algorithm {
	a := describe(true)
	a.Name, a.Title = "lamport-optimized", "Lamport, optimized"
	a.Claims = append(a.Claims, between()...)
	return a
}

func describe(sparing bool) *dme.Algorithm {
	return &dme.Algorithm{
		Citation: "L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 21(7), 1978; textbook, section 9.3",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:    []string{"REQUEST", "REPLY", "RELEASE"},
		Claims:   claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes, sparing: sparing}, nil
		},
	}
}
