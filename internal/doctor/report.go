package doctor

import (
	"fmt"
	"time"

	"dmebench/internal/environment"
)

// SchemaVersion is the version of the JSON form of a Report.
const SchemaVersion = 1

// Report is what an examination of one or several hosts has found.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Hosts         []Host    `json:"hosts"`
	Differences   []string  `json:"differences,omitempty"` // between the hosts, as environment.Differences tells them
	Paths         []Path    `json:"paths,omitempty"`       // between them, one for each ordered pair
	Between       []Finding `json:"between,omitempty"`     // findings about several hosts
	Problems      int       `json:"problems"`
	Warnings      int       `json:"warnings"`
	Notes         int       `json:"notes"`
}

// Host is what was found on one host.
type Host struct {
	Name        string            `json:"name"`
	Address     string            `json:"address"`
	Coordinator bool              `json:"coordinator,omitempty"` // from which the others were examined; no part of runs
	InUse       string            `json:"in_use,omitempty"`      // by whom; such a host is not examined
	Environment map[string]string `json:"environment"`
	Findings    []Finding         `json:"findings"`
}

// NewReport makes a report of what was found on hosts, and between them in the time
// that measuring their paths took.
func NewReport(hosts []Host, paths []Path, took time.Duration) *Report {
	r := &Report{SchemaVersion: SchemaVersion, Hosts: hosts, Paths: paths}
	environments := make(map[string]map[string]string)
	for _, h := range hosts {
		if h.Environment != nil && !h.Coordinator {
			environments[h.Name] = h.Environment
		}
	}
	if len(environments) > 1 {
		r.Differences = environment.Differences(environments)
		r.Between = judgePaths(hosts, paths, took)
		if len(r.Differences) > 0 {
			r.Between = append(r.Between, Finding{
				Check: "alike", Level: Note, Found: "the hosts differ",
				Do: "compare figures of the same placement only, and see whether all run the same program",
			})
		}
	}
	count := func(findings []Finding) {
		for _, f := range findings {
			switch f.Level {
			case Problem:
				r.Problems++
			case Warning:
				r.Warnings++
			case Note:
				r.Notes++
			}
		}
	}
	for _, h := range hosts {
		count(h.Findings)
	}
	count(r.Between)
	return r
}

// InUse is what is found of a host that has a run: an examination would disturb it.
func InUse(by string) Finding {
	return Finding{
		Check: "in-use", Level: Note, Found: fmt.Sprintf("in use by %s; not examined, so as not to disturb the run", by),
		Do: "look again when it has ended",
	}
}
