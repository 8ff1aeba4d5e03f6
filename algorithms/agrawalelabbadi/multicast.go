package agrawalelabbadi

import "dmebench/dme"

// Multicasts counts what is sent where a message to several sites counts once.
var Multicasts = dme.Quantity{ID: "multicasts-per-cs", Name: "transmissions per CS with a multicast facility"}

// multicastClaims lists what a multicast facility changes: Request and Relinquish go
// to all K−1 others of a quorum at once, each of whom replies.
func multicastClaims() []dme.Claim {
	const improves = section + "9.9: a multicast facility will improve the performance"
	return []dme.Claim{
		{
			Quantity: Multicasts, Formula: "K+1 with a multicast facility, K = log2(n+1)", Load: dme.Light, Kind: dme.Exact,
			Source: improves,
			Predict: func(s dme.Setting) (float64, bool) {
				k, ok := onEqualPaths(func(k float64) float64 { return k + 1 })(s)
				return k, ok && k > 2 // a site alone sends nothing
			},
		},
		{
			Quantity: Multicasts, Formula: "fewer than 3(K−1), without one", Load: dme.Light, Kind: dme.UpperBound,
			Source: improves,
			Predict: func(s dme.Setting) (float64, bool) {
				k, ok := onEqualPaths(func(k float64) float64 { return 3 * (k - 1) })(s)
				return k, ok && k > 6 // as many where there are two others in a quorum
			},
		},
	}
}

// multicasts counts equal messages of one step once.
type multicasts struct {
	step          map[string]bool // what has been sent in this step
	form          []byte
	sent, entries int
}

func newMulticasts(dme.Setting) dme.Meter { return &multicasts{step: make(map[string]bool)} }

func (m *multicasts) Note(x dme.Moment) {
	switch x.What {
	case dme.HasSent:
		if m.form = dme.AppendMessage(m.form[:0], &x.Msg); !m.step[string(m.form)] {
			m.step[string(m.form)] = true
			m.sent++
		}
	case dme.HasEntered:
		m.entries++
	default: // another step begins
		clear(m.step)
	}
}

func (m *multicasts) Value() (float64, bool) {
	return float64(m.sent) / float64(m.entries), m.entries > 0
}
