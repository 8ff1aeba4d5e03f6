package agent

import (
	"sync"
	"time"

	"dmebench/internal/doctor"
	"dmebench/internal/environment"
)

// facts are what an agent tells of its host. Nobody changes them.
type facts struct {
	memory      uint64 // that is free, in bytes
	limits      environment.Limits
	environment map[string]string
	addresses   []string
	clock       string // how it is kept
}

// inquiry finds the facts out, at most once a second however often it is asked.
type inquiry struct {
	mu     sync.Mutex
	at     time.Time
	latest facts
}

const factsAge = time.Second

func (q *inquiry) look() facts {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at.IsZero() || time.Since(q.at) > factsAge {
		q.at = time.Now()
		q.latest = facts{environment.AvailableMemory(), environment.HostLimits(), environment.Describe(), addresses(), doctor.ClockState()}
	}
	return q.latest
}
