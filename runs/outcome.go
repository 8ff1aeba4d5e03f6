package runs

// Outcome is what a run says about its algorithm.
type Outcome int

const (
	Held    Outcome = iota
	Broken          // violated, or stalled although the links met the needs
	Unknown         // it failed, or stalled for another reason
)

// Outcome returns what a run with this status says about its algorithm. linksMetNeeds
// is false also if faults were injected.
func (s Status) Outcome(linksMetNeeds bool) Outcome {
	switch {
	case s == OK:
		return Held
	case s == Violated, s == Stalled && linksMetNeeds:
		return Broken
	}
	return Unknown
}
