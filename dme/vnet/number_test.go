package vnet

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"dmebench/dme"
)

// Messages have the same number where they say the same on the same way, and so has what
// belongs to the whole network: nothing runs into what is written behind it.
func TestNumbersOfComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c components
		few := func(what string) int { return rapid.IntRange(0, 2).Draw(t, what) }
		messages, rests := map[string]uint32{}, map[string]uint32{}
		numbers := map[uint32]string{}
		restsOf := map[uint32]string{}
		for range 40 {
			p := passage{From: 1, To: dme.NodeID(2 + few("to")), copied: few("copied") == 0}
			if few("broadcast") == 0 {
				p.broadcast, p.place = true, int32(few("place"))
			}
			for range few("marks") {
				p.marks = append(p.marks, mark{dme.NodeID(1 + few("node")), dme.TimerID(few("timer")), 1 + few("hops")})
			}
			body := make([]byte, 1+4*few("length"))
			for i := range body {
				body[i] = byte(few("byte"))
			}
			text := fmt.Sprintf("%+v %x", p, body)
			number, _ := c.messageOf(nil, p, body)
			if before, known := messages[text]; known && before != number {
				t.Fatalf("%s has the numbers %d and %d", text, before, number)
			}
			if before, known := numbers[number]; known && before != text {
				t.Fatalf("%s and %s have one number", before, text)
			}
			messages[text], numbers[number] = number, text
			x := shared{lose: few("lose"), crashes: few("crashes"), departures: few("departures"), overtaken: []int{0, few("overtaken")}}
			for range few("timers") {
				x.timers = append(x.timers, Timer{Node: dme.NodeID(1 + few("node")), ID: dme.TimerID(few("timer")), Delay: 1})
			}
			text = fmt.Sprintf("%+v", x)
			number, _ = c.restOf(nil, &x)
			if before, known := rests[text]; known && before != number {
				t.Fatalf("%s has the numbers %d and %d", text, before, number)
			}
			if before, known := restsOf[number]; known && before != text {
				t.Fatalf("%s and %s have one number", before, text)
			}
			rests[text], restsOf[number] = number, text
		}
	})
}

// Marks are told from what a message says.
func TestMarksAreNoContent(t *testing.T) {
	var c components
	plain := passage{From: 1, To: 2}
	short, _ := c.messageOf(nil, plain, []byte{7})
	marked, _ := c.messageOf(nil, passage{From: 1, To: 2, marks: []mark{{1, 1, 1}}}, []byte{7})
	long, _ := c.messageOf(nil, plain, []byte{1, 1, 1, 7})
	if marked == long || short == long || short == marked {
		t.Errorf("a message, the same with a mark, and one that says what the mark does have the numbers %d, %d and %d", short, marked, long)
	}
}
