package agent

import (
	"sync"
	"time"

	"dmebench/internal/environment"
)

// facts are what an agent tells of its host. Nobody changes them.
type facts struct {
	memory      uint64 // that is free, in bytes
	limits      environment.Limits
	environment map[string]string
	addresses   []string
}

// survey finds the facts out, at most once a second however often it is asked.
type survey struct {
	mu     sync.Mutex
	at     time.Time
	latest facts
}

const factsAge = time.Second

func (s *survey) look() facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || time.Since(s.at) > factsAge {
		s.at = time.Now()
		s.latest = facts{environment.AvailableMemory(), environment.HostLimits(), environment.Describe(), addresses()}
	}
	return s.latest
}
