package transport

import (
	"time"

	"dmebench/dme"
)

// Impaired is a Transport that makes its links worse on purpose. What suspects a
// silent peer of having died asks it what was done to the links: a peer is not dead
// for what was injected.
type Impaired interface {
	// Impairment tells what is done at present to frames from a to b and to their
	// answers. It may be called by several goroutines.
	Impairment(a, b dme.NodeID) Impairment
}

// Impairment is what is done to the frames between two nodes, there and back.
type Impairment struct {
	Loss  float64       // probability that a frame or its answer vanishes; 1: nothing passes
	Delay time.Duration // longer than a frame and its answer wait, but for one in a billion
	What  string        // in the words of who asked for it, such as "loss=0.3"; "" for nothing
}
