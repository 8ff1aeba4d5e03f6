package vnet

import (
	"testing"

	"dmebench/dme"
)

func TestFields(t *testing.T) {
	m := dme.Message{
		Kind: 1, Flags: 5, Node: 3, Clock: 7, Num: 8, Req: dme.Stamp{Clock: 1, Node: 2}, Done: dme.Stamp{Clock: 0, Node: 4}, Vec: []uint64{9, 1},
	}
	const want = " flags=5 node=3 clock=7 num=8 req=(1,2) done=(0,4) vec=[9 1]"
	if got := fields(&m); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fields(&dme.Message{Kind: 1}); got != "" {
		t.Error(got)
	}
}

func TestStepsInWords(t *testing.T) {
	for want, step := range map[string]Step{
		"ask 2":           {Kind: Ask, Node: 2},
		"ask-shared 2":    {Kind: AskShared, Node: 2},
		"leave 1":         {Kind: Leave, Node: 1},
		"deliver 2->1":    {Kind: Deliver, From: 2, Node: 1},
		"lose 2->1 #3":    {Kind: Lose, From: 2, Node: 1, Index: 3},
		"copy 12->1":      {Kind: Copy, From: 12, Node: 1},
		"fire 4 timer 20": {Kind: Fire, Node: 4, Timer: 20},
		"stop 3":          {Kind: Stop, Node: 3},
	} {
		if got := step.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
