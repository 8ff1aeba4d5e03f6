package trace

import (
	"fmt"
	"strconv"
	"strings"

	"dmebench/dme"
)

// commands are the words that begin one, the event that it brings about, and how many words follow.
var commands = map[string]struct {
	event       dme.EventKind // 0: it brings about several, or none
	least, most int
}{
	"request": {dme.Request, 1, 1}, "request-shared": {dme.RequestShared, 1, 1}, "exit": {dme.Exit, 1, 1},
	"deliver": {dme.Receive, 1, maxFields}, "copy": {dme.Copy, 1, maxFields}, "lose": {dme.Lose, 1, maxFields},
	"timeout": {dme.Timeout, 1, 2}, "stop": {dme.Stop, 0, 1}, "crash": {dme.Crash, 1, 1}, "restart": {dme.Restart, 1, 1},
	"join": {dme.Join, 1, 1}, "leave": {dme.Depart, 1, 1}, "settle": {}, "state": {most: 1}, "waits": {most: 1},
}

// maxFields bounds the words that say which message is meant.
const maxFields = 100

func wordOf(k dme.EventKind) string {
	switch k {
	case dme.Receive, dme.PeerDown, dme.PeerUp:
		return "deliver"
	case dme.Timeout:
		return "timeout"
	case dme.Depart:
		return "leave"
	}
	return k.String()
}

type command struct {
	word     string
	event    dme.EventKind // 0: it is one of the others
	node, to dme.NodeID
	kind     string
	fields   string // of the message, as an outcome has them; "" for any
	timer    dme.TimerID
}

func (c *command) ofMessage() bool {
	return c.event == dme.Receive || c.event == dme.Copy || c.event == dme.Lose
}

func parseCommand(words []string, nodes int) (c command, err error) {
	c.word = words[0]
	takes, ok := commands[c.word]
	c.event = takes.event
	args := words[1:]
	switch {
	case !ok:
		return c, fmt.Errorf("unknown command %q", words[0])
	case len(args) < takes.least || len(args) > takes.most:
		return c, fmt.Errorf("%s takes %d to %d words, not %d", c.word, takes.least, takes.most, len(args))
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
	if !c.ofMessage() {
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
