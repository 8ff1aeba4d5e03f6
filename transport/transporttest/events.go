package transporttest

import (
	"fmt"

	"dmebench/dme"
)

// Events is a [transport.Handler] that notes what it is told, up to 1000 frames
// and as many ends.
type Events struct {
	Frames chan string // "1>2 body"
	Downs  chan error  // "node 2: why"
}

// NewEvents returns an Events that has been told nothing.
func NewEvents() *Events { return &Events{make(chan string, 1000), make(chan error, 1000)} }

func (e *Events) Frame(from, to dme.NodeID, b []byte) {
	e.Frames <- fmt.Sprintf("%d>%d %s", from, to, b)
}

func (e *Events) Down(peer dme.NodeID, err error) {
	e.Downs <- fmt.Errorf("node %d: %w", peer, err)
}
