package link

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
)

// Rule gives links conditions of their own, always or for a time. Times count
// from Start; a frame is judged when it is sent.
type Rule struct {
	Link        Link          // a node 0 stands for every node
	From, Until time.Duration // Until is not part of it; 0 is for ever
	Conditions  Conditions
}

func (r *Rule) inForce(now time.Duration) bool {
	return now >= r.From && (r.Until == 0 || now < r.Until)
}

func (c *Config) rulesOf(l Link) (rules []*Rule) {
	for i := range c.Rules {
		r := &c.Rules[i]
		if (r.Link.From == 0 || r.Link.From == l.From) && (r.Link.To == 0 || r.Link.To == l.To) {
			rules = append(rules, r)
		}
	}
	return rules
}

// CheckNodes reports the first rule that names a node beyond 1..nodes.
func (c *Config) CheckNodes(nodes int) error {
	for i := range c.Rules {
		if l := c.Rules[i].Link; int(max(l.From, l.To)) > nodes {
			return fmt.Errorf("links=…%s…: there are only the nodes 1 to %d", l, nodes)
		}
	}
	return nil
}

func (l Link) String() string {
	end := func(id dme.NodeID) string {
		if id == 0 {
			return "*"
		}
		return strconv.Itoa(int(id))
	}
	return end(l.From) + "-" + end(l.To)
}

const ruleForm = "FROM-TO:NAME=VALUE,… or FROM-TO@TIME-TIME:NAME=VALUE,…"

// parseRules reads "1-2:loss=0.1,delay=5ms;*-3@1s-2s:loss=1". Conditions that a rule does not name
// are as in all.
func parseRules(s string, all Conditions) ([]Rule, error) {
	var rules []Rule
	for part := range strings.SplitSeq(s, ";") {
		r := Rule{Conditions: all}
		if err := r.parse(part); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (r *Rule) parse(s string) error {
	head, conditions, ok := strings.Cut(s, ":")
	if !ok {
		return errors.New("want " + ruleForm)
	}
	ends, times, scheduled := strings.Cut(head, "@")
	from, to, ok := strings.Cut(ends, "-")
	if !ok {
		return fmt.Errorf("%q is not a link; want %s", ends, ruleForm)
	}
	var err1, err2 error
	r.Link.From, err1 = parseEnd(from)
	r.Link.To, err2 = parseEnd(to)
	err := cmp.Or(err1, err2)
	if err != nil {
		return err
	}
	if scheduled {
		if r.From, r.Until, err = parseTimes(times); err != nil {
			return err
		}
	}
	seen := make(map[string]bool)
	for word := range strings.SplitSeq(conditions, ",") {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=VALUE", word)
		}
		if seen[name] {
			return fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		if err := r.Conditions.set(name, value); err != nil {
			return err
		}
	}
	if r.Link.From != 0 && r.Link.From == r.Link.To {
		return fmt.Errorf("link: a rule for node %d and itself: there is no such link", r.Link.From)
	}
	return nil
}

func parseEnd(s string) (dme.NodeID, error) {
	if s == "*" {
		return 0, nil
	}
	id, err := strconv.ParseUint(s, 10, 20)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("%q is neither a node number nor *", s)
	}
	return dme.NodeID(id), nil
}

func parseTimes(s string) (from, until time.Duration, err error) {
	first, last, ok := strings.Cut(s, "-")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not FROM-UNTIL, such as 1s-2s", s)
	}
	from, err1 := dme.ParseDuration(first)
	until, err2 := dme.ParseDuration(last)
	if err := cmp.Or(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("%q: %w", s, err)
	}
	if from < 0 || until <= from {
		return 0, 0, fmt.Errorf("from %v until %v: want an end after the beginning", from, until)
	}
	return from, until, nil
}
