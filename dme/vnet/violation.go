package vnet

import (
	"fmt"

	"dmebench/dme"
)

// Property is what a schedule can break.
type Property string

// The properties that every step is judged by. Exclusion: a node is in the
// critical section alone, or with readers as a reader. Asked: nobody enters
// without a request. Overtaking: no more entries of others than the bound come
// before a request's. Sanity: no node panics.
const (
	Exclusion  Property = "mutual exclusion"
	Asked      Property = "entry on request only"
	Overtaking Property = "bounded bypass"
	Sanity     Property = "sanity"
)

// Violation is a broken property.
type Violation struct {
	Property Property     `json:"property"`
	Verdict  string       `json:"verdict"` // in one sentence
	Nodes    []dme.NodeID `json:"nodes"`   // whom it concerns
}

func (v *Violation) String() string { return v.Verdict }

func twoInside(first, second dme.NodeID, firstReads, secondReads bool) *Violation {
	if second < first {
		first, second, firstReads, secondReads = second, first, secondReads, firstReads
	}
	as := func(id dme.NodeID, reads bool) string {
		if reads {
			return id.String() + " (reading)"
		}
		return id.String()
	}
	return &Violation{
		Exclusion, fmt.Sprintf("two nodes are in the critical section: %s and %s", as(first, firstReads), as(second, secondReads)),
		[]dme.NodeID{first, second},
	}
}

func uninvited(id dme.NodeID) *Violation {
	return &Violation{Asked, fmt.Sprintf("node %d enters the critical section without a request", id), []dme.NodeID{id}}
}

func overtaken(id dme.NodeID, bound int) *Violation {
	return &Violation{
		Overtaking, fmt.Sprintf("node %d is overtaken: %d entries of others since it asked, more than %d", id, bound+1, bound), []dme.NodeID{id},
	}
}

func panicked(id dme.NodeID, text string) *Violation {
	return &Violation{Sanity, fmt.Sprintf("node %d panics: %s", id, text), []dme.NodeID{id}}
}
