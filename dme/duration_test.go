package dme

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5ms": 5 * time.Millisecond, "0": 0, "1m30s": 90 * time.Second, "-2us": -2 * time.Microsecond,
	} {
		if d, err := ParseDuration(text); d != want || err != nil {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for text, want := range map[string]string{
		"5": "5 has no unit; write 5ms, 5us or 5s", "0.5": "0.5 has no unit; write 0.5ms, 0.5us or 0.5s",
		"": "not a duration", "soon": "not a duration", "5 ms": "not a duration",
	} {
		if _, err := ParseDuration(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
