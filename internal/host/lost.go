package host

import (
	"errors"
	"fmt"
)

// ErrLost is wrapped by the errors of a host that cannot be reached any more.
var ErrLost = errors.New("the host cannot be reached any more")

// Lost is the error of a host that cannot be reached for a reason.
func Lost(name string, why error) error { return fmt.Errorf("host %s: %w: %w", name, ErrLost, why) }
