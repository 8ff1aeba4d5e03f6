package trace

import (
	"fmt"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

type verb string

const (
	request       verb = "request"
	requestShared verb = "request-shared"
	exit          verb = "exit"
	deliver       verb = "deliver"
	copied        verb = "copy"
	lose          verb = "lose"
	settle        verb = "settle"
	timeout       verb = "timeout"
	stop          verb = "stop"
	state         verb = "state"
	waits         verb = "waits"
	crash         verb = "crash"
	restart       verb = "restart"
	join          verb = "join"
	leave         verb = "leave"
)

// verbs says how many words a verb takes, and which step it is, if it is one.
var verbs = map[verb]struct {
	least, most int
	step        vnet.StepKind
}{
	request: {1, 1, vnet.Ask}, requestShared: {1, 1, vnet.AskShared}, exit: {1, 1, vnet.Exit},
	deliver: {1, maxFields, vnet.Deliver}, copied: {1, maxFields, vnet.Copy}, lose: {1, maxFields, vnet.Lose},
	timeout: {1, 2, vnet.Fire},
	crash:   {1, 1, vnet.Crash}, restart: {1, 1, vnet.Restart}, join: {1, 1, vnet.Join}, leave: {1, 1, vnet.Depart},
	state: {0, 1, 0}, waits: {0, 1, 0}, settle: {}, stop: {0, 1, vnet.Stop},
}

// maxFields bounds the words that say which message is meant.
const maxFields = 100

// ofMessage reports whether a verb is the fate of a message.
func (v verb) ofMessage() bool { return v == deliver || v == copied || v == lose }

type command struct {
	verb     verb
	node, to dme.NodeID
	kind     string
	fields   string // of the message, as an outcome has them; "" for any
	timer    dme.TimerID
}

func parseCommand(words []string, nodes int) (c command, err error) {
	c.verb = verb(words[0])
	v, ok := verbs[c.verb]
	args := words[1:]
	switch {
	case !ok:
		return c, fmt.Errorf("unknown command %q", words[0])
	case len(args) < v.least || len(args) > v.most:
		return c, fmt.Errorf("%s takes %d to %d words, not %d", c.verb, v.least, v.most, len(args))
	case len(args) == 0:
		return c, nil
	}
	node := func(text string) dme.NodeID {
		n, e := strconv.Atoi(text)
		if (e != nil || n < 1 || n > nodes) && err == nil {
			err = fmt.Errorf("%q is not one of the nodes 1 to %d", text, nodes)
		}
		return dme.NodeID(n)
	}
	if !c.verb.ofMessage() {
		c.node = node(args[0])
		if len(args) == 2 {
			id, e := strconv.ParseUint(args[1], 10, 8)
			if e != nil {
				return c, fmt.Errorf("%q is not a timer", args[1])
			}
			c.timer = dme.TimerID(id)
		}
		return c, err
	}
	from, to, ok := strings.Cut(args[0], "->")
	if !ok {
		return c, fmt.Errorf("%q: want a link such as 2->1", args[0])
	}
	c.node, c.to = node(from), node(to)
	if len(args) > 1 {
		c.kind, c.fields = args[1], strings.Join(args[2:], " ")
	}
	return c, err
}
