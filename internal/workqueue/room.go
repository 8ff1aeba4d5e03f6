package workqueue

import (
	"context"
	"sync"
)

// room bounds the bytes of what is waiting. What is larger than all of it waits alone.
type room struct {
	mu    sync.Mutex
	left  int
	whole int
	freed chan struct{} // closed when something leaves
}

func newRoom(bytes int) *room { return &room{left: bytes, whole: bytes, freed: make(chan struct{})} }

// take waits until there is room, and takes it. It returns the cause of the end of one of
// the contexts where that comes first.
func (r *room) take(ctx, queue context.Context, bytes int) error {
	for {
		r.mu.Lock()
		if bytes <= r.left || r.left == r.whole {
			r.left -= bytes
			r.mu.Unlock()
			return nil
		}
		freed := r.freed
		r.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-queue.Done():
			return context.Cause(queue)
		}
	}
}

func (r *room) leave(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += bytes
	close(r.freed)
	r.freed = make(chan struct{})
}
