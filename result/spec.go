// Package result is the vocabulary of results: what one run was asked to do (a
// [Spec]) and what it found out (a [Result]); which runs are repetitions of one
// another (a [Key] and its projections); the numbers that a run has (a [Metric]);
// and the file of a sweep (a [Store]), which says what belongs to which entry of
// an [Experiment].
//
// [Read] reads results wherever they were left. The package imports nothing of the
// program, so that others can read results too. It judges nothing, and carries
// nothing out.
package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Spec is the configuration of one run, as flags or a file give it. Its JSON
// form travels to workers and is part of the digest by which a sweep continues:
// fields that were not given are left out, so that a new one does not change it.
type Spec struct {
	Algorithm      string            `json:"algorithm"`
	Nodes          int               `json:"nodes"`
	Transport      string            `json:"transport"`
	Workload       string            `json:"workload"`
	Rate           float64           `json:"rate,omitempty"`       // requests per second and node
	TotalRate      float64           `json:"total_rate,omitempty"` // requests per second of the system
	CS             string            `json:"cs"`                   // DURATION or exp:DURATION
	Requests       int               `json:"requests,omitempty"`   // total; 0 with a duration means no limit
	Duration       Duration          `json:"duration,omitempty"`
	Seed           uint64            `json:"seed"`
	NodesPerWorker int               `json:"nodes_per_worker"`
	Warmup         string            `json:"warmup"` // "auto" or a number of entries
	StallAfter     Duration          `json:"stall_after"`
	Set            map[string]string `json:"set,omitempty"`
	Listen         string            `json:"listen,omitempty"` // HOST:PORT of the control plane's broker
	AllowMismatch  bool              `json:"allow_mismatch,omitempty"`
	Faults         []string          `json:"faults,omitempty"`   // what is done to nodes on purpose, as package fault reads it
	Resource       string            `json:"resource,omitempty"` // that every critical section reads, changes and writes back
}

// Defaults of a Spec (the requests' is 100·N).
const (
	DefaultTransport  = "tcp"
	DefaultWorkload   = "saturate"
	DefaultCS         = "100us"
	DefaultSeed       = 1
	DefaultWarmup     = "auto"
	DefaultStallAfter = 10 * time.Second
)

// WithDefaults returns the spec with every field that was left zero at its
// default. Requests has one only where neither requests nor a duration nor a
// trace says when the run ends.
func (s Spec) WithDefaults() Spec {
	if s.Transport == "" {
		s.Transport = DefaultTransport
	}
	if s.Workload == "" {
		s.Workload = DefaultWorkload
	}
	if s.CS == "" {
		s.CS = DefaultCS
	}
	if s.Requests == 0 && s.Duration == 0 && s.Workload != "trace" {
		s.Requests = 100 * s.Nodes
	}
	if s.Seed == 0 {
		s.Seed = DefaultSeed
	}
	if s.NodesPerWorker == 0 {
		s.NodesPerWorker = 1
	}
	if s.Warmup == "" {
		s.Warmup = DefaultWarmup
	}
	if s.StallAfter == 0 {
		s.StallAfter = Duration(DefaultStallAfter)
	}
	return s
}

// Sim is the name of the simulated network; every other one is real.
const Sim = "sim"

// Duration is a time.Duration that reads and writes as "1.5s".
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	x, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 500ms or 10s", text)
	}
	*d = Duration(x)
	return nil
}

// DecodeSpec reads the JSON form of a spec strictly.
func DecodeSpec(b []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("run: specification: %w", err)
	}
	if d.More() {
		return s, errors.New("run: specification: something follows it")
	}
	return s, nil
}

// Std returns the duration as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }
