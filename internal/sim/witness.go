package sim

// witness counts who is in the critical section, at the very instants of entry
// and exit.
type witness struct {
	entries    uint64
	writers    int
	readers    int
	violations uint64 // entries that found a conflicting one inside
}

// enter returns the entry's position among all, from 1.
func (w *witness) enter(shared bool) (order uint64) {
	if w.writers > 0 || !shared && w.readers > 0 {
		w.violations++
	}
	if shared {
		w.readers++
	} else {
		w.writers++
	}
	w.entries++
	return w.entries
}

func (w *witness) leave(shared bool) {
	if shared {
		w.readers--
	} else {
		w.writers--
	}
}
