package dme

import (
	"errors"
	"testing"
)

// Each kind of event has a word of its own, which is read as that kind.
func TestWordsOfEvents(t *testing.T) {
	for k := Start; k <= Left; k++ {
		if got, err := ParseEvent(k.String()); got != k || err != nil {
			t.Errorf("%q, of kind %d, is read as %d, %v", k, k, got, err)
		}
		if k.IsEffect() != (k > PeerUp) {
			t.Errorf("%q is an effect: %v", k, k.IsEffect())
		}
	}
	for _, word := range []string{"", "dance", "event 99"} {
		if got, err := ParseEvent(word); got != 0 || !errors.Is(err, ErrNoEvent) {
			t.Errorf("%q is read as %v, %v", word, got, err)
		}
	}
}
