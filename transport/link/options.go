package link

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/units"
)

type setting struct {
	name, fallback, values, help string
	parse                        func(value string, c *Config) error
}

func settings() []setting {
	return []setting{
		{"delay", "0", "DURATION|uniform:FROM:TO|exp:MEAN|pareto:MEAN:INDEX", "how much longer every frame takes; links keep their order",
			func(s string, c *Config) error { return read(&c.All.Delay, ParseDelay, s) }},
		{"jitter", "0", "DURATION", "up to which, uniformly, a frame takes longer still",
			func(s string, c *Config) error { return read(&c.All.Jitter, parseDuration, s) }},
		{"loss", "0", "PROBABILITY", "that a frame vanishes",
			func(s string, c *Config) error { return read(&c.All.Loss, dme.Fraction, s) }},
		{"dup", "0", "PROBABILITY", "that a frame arrives twice",
			func(s string, c *Config) error { return read(&c.All.Duplication, dme.Fraction, s) }},
		{"reorder", "0", "PROBABILITY", fmt.Sprintf("that a frame is held back for up to %v while others pass", DefaultHolding),
			func(s string, c *Config) error { return read(&c.All.Reordering, dme.Fraction, s) }},
		{"bandwidth", "0", "BYTES", "per second and link; 0 is no limit",
			func(s string, c *Config) error { return read(&c.All.Bandwidth, dme.Whole(0, math.MaxInt), s) }},

		{"links", "none", "none|FROM-TO[@TIME-TIME]:NAME=VALUE,…;…",
			"of single links, always or for a time, such as 1-2:loss=0.1,delay=5ms;*-3@1s-2s:loss=1: " +
				"the first in force holds, what it leaves out is as everywhere",
			func(s string, c *Config) (err error) {
				if s != "none" {
					c.Rules, err = parseRules(s, c.All)
				}
				return err
			}},
		{SitesOption, noSites, "none|regions|file:F",
			"where nodes are, and how far apart: twelve cloud regions at the speed of light in fibre, or the lines 'from,to,delay' " +
				"of file F, one-way; on top of other delays",
			func(s string, _ *Config) error { return validSites(s) }},
		{PlaceOption, Blocks, "blocks|round-robin|file", "which node is at which site: the first at the first, in turn, or as file F says",
			func(s string, _ *Config) error { return validPlace(s) }},
		{"partition", "none", "none|GROUP|…@FROM-UNTIL;…",
			"when frames between groups of nodes vanish, such as 1,2|3-5@1s-2s, counted from the start of the network",
			func(s string, c *Config) (err error) {
				if s != "none" {
					c.Partitions, err = ParsePartitions(s)
				}
				return err
			}},
		{"link-seed", "1", "NUMBER", "of what happens to which frame of a link",
			func(s string, c *Config) error { return read(&c.Seed, parseSeed, s) }},
	}
}

// conditions is how many of the settings say something of a link itself.
const conditions = 6

func read[T any](to *T, parse func(string) (T, error), value string) (err error) {
	*to, err = parse(value)
	return err
}

// Options lists the settings by which a person asks for conditions. By default they leave
// every frame alone.
func Options() []dme.Option {
	var all []dme.Option
	for _, x := range settings() {
		all = append(all, dme.Option{
			Name: x.name, Default: x.fallback, Forms: strings.Split(x.values, "|"), Help: x.help,
			Valid: func(s string) error { return x.parse(s, new(Config)) },
		})
	}
	return all
}

// Parse returns the configuration that values of Options stand for.
func Parse(o dme.Options) (Config, error) {
	var c Config
	var errs []error
	for _, x := range settings() {
		if err := x.parse(o.Get(x.name), &c); err != nil {
			errs = append(errs, fmt.Errorf("link: %s=%s: %w", x.name, o.Get(x.name), err))
		}
	}
	sites, err := locatedSites(o)
	if c.Sites = sites; err != nil {
		errs = append(errs, fmt.Errorf("link: %s=%s: %w", SitesOption, o.Get(SitesOption), err))
	}
	return c, errors.Join(errs...)
}

func (c *Conditions) set(name, value string) error {
	var names []string
	for _, x := range settings()[:conditions] {
		if names = append(names, x.name); x.name != name {
			continue
		}
		whole := Config{All: *c}
		if err := x.parse(value, &whole); err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		*c = whole.All
		return nil
	}
	return fmt.Errorf("%q is not a condition of a link; there are %s%s", name, strings.Join(names, ", "), units.Hint(name, names))
}

// Describe names the settings that are not at their defaults: "loss=0.1 dup=0.1".
func Describe(o dme.Options) string {
	var words []string
	for _, x := range settings() {
		if v := o.Get(x.name); v != x.fallback && x.name != "link-seed" {
			words = append(words, x.name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

var parseDuration = dme.Lasting(0, MaxDelay)

func parseSeed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, errors.New("not a number of 64 bits")
	}
	return n, nil
}
