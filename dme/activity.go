package dme

// Activity says where the local process of a node stands.
type Activity uint32

// A local process is idle, has asked for the critical section, or is inside;
// or its node is no part of the system: it has crashed, has left, or has not
// joined yet.
const (
	Idle Activity = iota
	Requesting
	Inside
	Down
)

func (a Activity) String() string {
	switch a {
	case Idle:
		return "idle"
	case Requesting:
		return "requesting"
	case Inside:
		return "in the critical section"
	case Down:
		return "down"
	}
	return "unknown"
}
