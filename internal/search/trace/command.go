package trace

import (
	"fmt"
	"strconv"
	"strings"

	"dmebench/dme"
)

// takes says how many words follow a command.
type takes struct{ least, most int }

var events = map[dme.EventKind]takes{
	dme.Request: {1, 1}, dme.RequestShared: {1, 1}, dme.Exit: {1, 1},
	dme.Receive: {1, maxFields}, dme.Copy: {1, maxFields}, dme.Lose: {1, maxFields},
	dme.Timeout: {1, 2}, dme.Stop: {0, 1}, dme.Crash: {1, 1}, dme.Restart: {1, 1}, dme.Join: {1, 1}, dme.Depart: {1, 1},
}

// others are the commands that are no event: they bring about several, or none.
var others = map[string]takes{"settle": {}, "state": {0, 1}, "waits": {0, 1}}

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
	takes, ok := others[c.word]
	for event, t := range events {
		if wordOf(event) == c.word {
			c.event, takes, ok = event, t, true
		}
	}
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
