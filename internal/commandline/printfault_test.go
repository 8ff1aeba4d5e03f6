package commandline

import (
	"testing"

	"dmebench/result"
)

func TestDescribeFault(t *testing.T) {
	at := func(ns int64) *int64 { return &ns }
	for want, f := range map[string]result.Fault{
		"kill holder @entry:9: hit node 3 at 2s, next entry after 70ms, the 4 that waited served after 120ms, 1 requests lost": {
			Fault: "kill holder @entry:9", AtNS: 2e9, Nodes: []int{3}, RecoveredNS: at(7e7), ServedNS: at(12e7), Waiting: 4, Lost: 1},
		"pause 1-2 @1s-2s: hit nodes 1-2 at 1s, over after 1s, no other node entered after it, of the 2 that waited, some never served": {
			Fault: "pause 1-2 @1s-2s", AtNS: 1e9, Nodes: []int{1, 2}, EndedNS: at(1e9), Waiting: 2},
	} {
		if got := describeFault(&f, crossing{}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
