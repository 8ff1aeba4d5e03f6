package alarm

// events is a binary heap, the earliest first. Unlike that of the standard
// library it allocates nothing for an event: each critical section has one.
type events []Event

// before reports whether event i comes before event j.
func (e events) before(i, j int) bool {
	if e[i].At != e[j].At {
		return e[i].At < e[j].At
	}
	return e[i].Kind < e[j].Kind
}

func (e *events) push(x Event) {
	*e = append(*e, x)
	h := *e
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(i, parent) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pop takes out the earliest event. There must be one.
func (e *events) pop() Event {
	h := *e
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*e = h
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h.before(child, least) {
				least = child
			}
		}
		if least == i {
			return first
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
