package dme

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// ParseDuration reads a duration such as 100us, 5ms or 1m30s, as
// [time.ParseDuration] does. Its errors are for people: they say what a number
// without a unit lacks.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	if _, bad := strconv.ParseFloat(text, 64); bad == nil {
		return 0, fmt.Errorf("%s has no unit; write %sms, %sus or %ss", text, text, text, text)
	}
	return 0, errors.New("not a duration")
}
