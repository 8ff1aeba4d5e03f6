package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
)

// The options of an algorithm that lets its user choose the request sets.
const (
	OptionQuorum    = "quorum"
	OptionWeights   = "weights"
	OptionLabelling = "labelling"
)

// Options returns the declarations of quorum, weights and labelling.
func Options() []dme.Option {
	named := slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, fromFile) })
	return []dme.Option{
		{
			Name: OptionQuorum, Default: Names()[0], Words: named, Forms: []string{fromFile + "F"},
			Help: "how the request sets are made",
			Valid: func(value string) error {
				if lookup(value) == nil {
					return errors.New("no such construction")
				}
				return nil
			},
		},
		{
			Name: OptionWeights, Default: "", Forms: []string{"V1,V2,…"},
			Help: "votes of the nodes 1, 2, … for quorum=weighted; one each where none are given",
			Valid: func(value string) error {
				_, err := ParseWeights(value)
				return err
			},
		},
		{
			Name: OptionLabelling, Default: natural, Words: []string{natural, shuffled},
			Help: "which node stands where in a plane or grid: by number, or at random by the run's seed; by number, neighbours on " +
				"a plane share one of the two, and hand over by one message",
		},
	}
}

// ValidNodes reports why n nodes cannot have the request sets that the options of
// [Options] choose: where votes are given, each node must have its own.
func ValidNodes(n int, opt dme.Options) error {
	votes, err := ParseWeights(opt.Get(OptionWeights))
	if err != nil || votes == nil {
		return err
	}
	return oneEach(votes, n)
}

// ParseWeights reads votes separated by commas; nil where there are none.
func ParseWeights(value string) ([]uint64, error) {
	if value == "" {
		return nil, nil
	}
	var votes []uint64
	for word := range strings.SplitSeq(value, ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number of votes", word)
		}
		votes = append(votes, v)
	}
	return votes, nil
}

// Prepare builds the system that the options of [Options] choose.
func Prepare(cfg dme.Config) (*System, error) {
	construction := cfg.Options.Get(OptionQuorum)
	votes, err := ParseWeights(cfg.Options.Get(OptionWeights))
	if err != nil {
		return nil, err
	}
	if votes != nil && construction != "weighted" {
		return nil, fmt.Errorf("quorum: weights are given, but quorum=%s does not count votes; choose quorum=weighted", construction)
	}
	s, err := New(construction, Config{Nodes: cfg.Nodes, Weights: votes, ReadFile: cfg.ReadFile})
	if err != nil {
		return nil, err
	}
	return s, s.relabel(cfg.Options.Get(OptionLabelling), cfg.Seed)
}
