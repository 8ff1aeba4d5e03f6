package entrylog

import "dmebench/dme"

// Update is what a critical section has written to a resource that all entries share.
// Times are as in an [Entry].
type Update struct {
	Node    dme.NodeID `json:"node"`
	Entry   uint64     `json:"entry"` // which of the node's, from 1
	Entered int64      `json:"entered"`
	Left    int64      `json:"left"` // when it began to write: its exit was later than that
}

// LostUpdate is an update that another one has overwritten: between the read and the
// write of Other, Update was written.
type LostUpdate struct {
	Version uint64 `json:"version"` // that Other had read
	Update  Update `json:"update"`
	Other   Update `json:"other"`
}
