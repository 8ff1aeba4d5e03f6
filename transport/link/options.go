package link

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
)

// Options lists the settings by which a person asks for conditions. Parse reads
// their values. By default they leave every frame alone.
func Options() []dme.Option {
	return []dme.Option{
		{Name: "delay", Default: "0", Values: "DURATION|uniform:FROM:TO|exp:MEAN|pareto:MEAN:INDEX", Valid: validDelay,
			Help: "how much longer every frame takes; links keep their order"},
		{Name: "jitter", Default: "0", Values: "DURATION", Valid: validDuration,
			Help: "up to which, uniformly, a frame takes longer still"},
		{Name: "loss", Default: "0", Values: "PROBABILITY", Valid: validProbability,
			Help: "that a frame vanishes"},
		{Name: "dup", Default: "0", Values: "PROBABILITY", Valid: validProbability,
			Help: "that a frame arrives twice"},
		{Name: "reorder", Default: "0", Values: "PROBABILITY", Valid: validProbability,
			Help: fmt.Sprintf("that a frame is held back for up to %v while others pass", DefaultHolding)},
		{Name: "bandwidth", Default: "0", Values: "BYTES", Valid: validBandwidth,
			Help: "per second and link; 0 is no limit"},
		{Name: "links", Default: "none", Values: "none|FROM-TO[@TIME-TIME]:NAME=VALUE,…;…", Valid: validLinks,
			Help: "of single links, always or for a time, such as 1-2:loss=0.1,delay=5ms;*-3@1s-2s:loss=1: the first in force holds, what it leaves out is as everywhere"},
		{Name: "partition", Default: "none", Values: "none|GROUP|…@FROM-UNTIL;…", Valid: validPartition,
			Help: "when frames between groups of nodes vanish, such as 1,2|3-5@1s-2s, counted from the start of the network"},
		{Name: "link-seed", Default: "1", Values: "NUMBER", Valid: validSeed,
			Help: "of what happens to which frame of a link"},
	}
}

// Parse returns the configuration that values of Options stand for. Values that
// have not been checked are an error.
func Parse(o dme.Options) (Config, error) {
	var c Config
	var errs []error
	parse := func(name string, read func(string) error) {
		if err := read(o.Get(name)); err != nil {
			errs = append(errs, fmt.Errorf("link: %s=%s: %w", name, o.Get(name), err))
		}
	}
	for _, name := range conditionNames {
		parse(name, func(s string) error { return c.All.parse(name, s) })
	}
	parse("links", func(s string) (err error) {
		if s != "none" {
			c.Rules, err = parseRules(s, c.All)
		}
		return err
	})
	parse("partition", func(s string) (err error) {
		if s != "none" {
			c.Partitions, err = ParsePartitions(s)
		}
		return err
	})
	parse("link-seed", func(s string) (err error) {
		c.Seed, err = strconv.ParseUint(s, 10, 64)
		return err
	})
	return c, errors.Join(errs...)
}

// conditionNames are the options that say something of a link itself.
var conditionNames = []string{"delay", "jitter", "loss", "dup", "reorder", "bandwidth"}

// set sets the condition of that name.
func (c *Conditions) set(name, value string) error {
	if !slices.Contains(conditionNames, name) {
		return fmt.Errorf("%q is no condition of a link; there are %s", name, strings.Join(conditionNames, ", "))
	}
	if err := c.parse(name, value); err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return nil
}

// parse reads the value of one of the conditions.
func (c *Conditions) parse(name, value string) (err error) {
	switch name {
	case "delay":
		c.Delay, err = ParseDelay(value)
	case "jitter":
		c.Jitter, err = parseDuration(value)
	case "loss":
		c.Loss, err = parseProbability(value)
	case "dup":
		c.Duplication, err = parseProbability(value)
	case "reorder":
		c.Reordering, err = parseProbability(value)
	case "bandwidth":
		c.Bandwidth, err = parseBandwidth(value)
	}
	return err
}

// Describe names the settings that are not at their defaults: "loss=0.1 dup=0.1".
func Describe(o dme.Options) string {
	var words []string
	for _, option := range Options() {
		if v := o.Get(option.Name); v != option.Default && option.Name != "link-seed" {
			words = append(words, option.Name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

func parseProbability(s string) (float64, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, errors.New("not a probability from 0 to 1")
	}
	return p, nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > MaxDelay {
		return 0, fmt.Errorf("not a duration from 0 to %v", MaxDelay)
	}
	return d, nil
}

func parseBandwidth(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, errors.New("not a number of bytes per second")
	}
	return n, nil
}

func validDuration(s string) error    { _, err := parseDuration(s); return err }
func validProbability(s string) error { _, err := parseProbability(s); return err }
func validBandwidth(s string) error   { _, err := parseBandwidth(s); return err }

func validDelay(s string) error {
	if _, err := ParseDelay(s); err != nil {
		return errors.New("not a delay; say for example --set delay=exp:1ms")
	}
	return nil
}

func validLinks(s string) error {
	if s == "none" {
		return nil
	}
	_, err := parseRules(s, Conditions{})
	return err
}

func validPartition(s string) error {
	if s == "none" {
		return nil
	}
	_, err := ParsePartitions(s)
	return err
}

func validSeed(s string) error {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return errors.New("not a number of 64 bits")
	}
	return nil
}
