package lamport

import "dmebench/algorithms"

// Algorithm describes Lamport's algorithm.
func Algorithm() *algorithms.Algorithm {
	a := describe(false)
	a.Name, a.Title = "lamport", "Lamport"
	a.Claims = append(a.Claims, exactly()...)
	return a
}

// Optimized describes Lamport's algorithm with the optimization of section 9.3,
// which omits a REPLY where the receiver's own REQUEST serves as well.
func Optimized() *algorithms.Algorithm {
	a := describe(true)
	a.Name, a.Title = "lamport-optimized", "Lamport, optimized"
	a.Claims = append(a.Claims, between()...)
	return a
}

func describe(sparing bool) *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Citation: "L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 21(7), 1978; textbook, section 9.3",
		Class:    algorithms.Permission,
		Needs:    algorithms.Always(algorithms.Needs{Reliable: true, FIFO: true}),
		Kinds:    []string{"REQUEST", "REPLY", "RELEASE"},
		Claims:   claims(),
		Prepare: func(c algorithms.Config) (algorithms.System, error) {
			return system{nodes: c.Nodes, sparing: sparing}, nil
		},
	}
}
