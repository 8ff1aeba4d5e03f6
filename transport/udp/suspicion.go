package udp

import (
	"fmt"
	"math"
	"time"

	"dmebench/transport"
)

// A peer that should answer and does not is suspected by what was tried, not by the
// clock alone. It is dead once
//
//   - for the time limits.silence, and for as long as the conditions of the link may
//     delay a frame and its answer, nothing has come from it, and
//   - limits.tries attempts to reach it, and one more for each processesPerTry
//     processes of the run, have had the time of a timeout to be answered, and
//   - where the link loses frames on purpose, so many attempts that the chance that
//     all of them were lost is below limits.falsely.
//
// While a partition separates the two, nothing counts. An attempt does not count
// whose timeout this process saw too late: where it got no processor, neither may its
// peers have got one. A run of many processes begins with all of them in need of one
// at once.
const processesPerTry = 32

// dead notes that the timeout of an attempt is over, and reports whether the other side
// is to be given up. It is called with mu held.
func (l *association) dead(now, awake instant) bool {
	x := l.t.impairment(l)
	if x.Loss >= 1 {
		l.tries = 0
		if l.asked > 0 {
			l.asked = now
		}
		return false
	}
	if now-l.out.timeout <= asleep {
		l.tries++
	}
	silence := l.t.limits.silence + l.t.config.Patience + x.Delay
	return l.asked > 0 && now >= max(l.asked, awake)+silence && l.tries >= l.t.enough(x.Loss)
}

// silent says why the other side is given up. It is called with mu held.
func (l *association) silent(now instant) error {
	conditions := ""
	if x := l.t.impairment(l); x.What != "" {
		conditions = fmt.Sprintf(", more than %s on the link can explain", x.What)
	}
	return fmt.Errorf("udp: %v: silent for %v through %d attempts to reach it%s; did its worker end?",
		l.process, (now - l.asked).Round(100*time.Millisecond), l.tries, conditions)
}

// enough returns how many attempts tell that a peer is dead, where one is lost with
// that probability.
func (t *reliable) enough(loss float64) int {
	n := t.limits.tries + t.top.Len()/processesPerTry
	if loss > 0 {
		n = max(n, int(math.Ceil(math.Log(t.limits.falsely)/math.Log(loss))))
	}
	return n
}

// impairment tells what is done to a link on purpose.
func (t *reliable) impairment(l *association) transport.Impairment {
	if x, ok := t.below.(transport.Impaired); ok {
		return x.Impairment(t.top.Self.Node(), l.process.Node())
	}
	return transport.Impairment{}
}
