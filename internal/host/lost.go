package host

import "errors"

// ErrLost is wrapped by the errors of a host that cannot be reached any more.
var ErrLost = errors.New("it cannot be reached any more")

// LostError says which host cannot be reached any more, and why.
type LostError struct {
	Host  string
	Why   error
	Ended bool // its workers have, as the host itself has said
}

func (e *LostError) Error() string {
	return "host " + e.Host + ": " + ErrLost.Error() + ": " + e.Why.Error()
}

// Unwrap returns [ErrLost] and the reason.
func (e *LostError) Unwrap() []error { return []error{ErrLost, e.Why} }
