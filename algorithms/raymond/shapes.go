package raymond

import (
	"errors"
	"strconv"
	"strings"

	"dmebench/dme"
)

const optTree = "tree"

func treeOption() dme.Option {
	return dme.Option{
		Name: optTree, Default: "binary", Words: []string{"binary", "star", "line"},
		Forms: []string{"kary:K", "radiating:K", "file:F", "mst:COSTS"}, Samples: []string{"kary:3", "radiating:3"},
		Valid: func(value string) error {
			_, err := parseShape(value)
			return err
		},
		Help: "the spanning tree, whose node 1 is the root, the centre of the star, the end of the line, and has the first token; " +
			"file F has a line 'i j' for each edge, file COSTS a line 'i j cost' for each link",
	}
}

// shape makes a tree on the nodes of a system.
type shape func(dme.Config) (*tree, error)

// parseShape returns the shape that a value of the option names.
func parseShape(value string) (shape, error) {
	name, parameter, has := strings.Cut(value, ":")
	switch {
	case value == "binary":
		return byRule(heap(2)), nil
	case value == "star":
		return byRule(func(dme.NodeID) dme.NodeID { return root }), nil
	case value == "line":
		return byRule(heap(1)), nil
	case name == "kary" && has:
		k, err := degree(parameter, 2)
		if err != nil {
			return nil, errors.New("the number K of children must be from 2 to 65535")
		}
		return byRule(heap(k)), nil
	case name == "radiating" && has:
		k, err := degree(parameter, 3)
		if err != nil {
			return nil, errors.New("the degree K must be from 3 to 65535")
		}
		return byRule(radiating(k)), nil
	case name == "file" && parameter != "":
		return fromFile(parameter, false), nil
	case name == "mst" && parameter != "":
		return fromFile(parameter, true), nil
	}
	return nil, errors.New("no such tree")
}

func degree(s string, least uint64) (dme.NodeID, error) {
	k, err := strconv.ParseUint(s, 10, 16)
	if err == nil && k < least {
		err = errors.New("too small")
	}
	return dme.NodeID(k), err
}

// byRule is the shape in which a rule says each node's parent.
func byRule(parent func(dme.NodeID) dme.NodeID) shape {
	return func(c dme.Config) (*tree, error) { return newTree(c.Nodes, parent), nil }
}

// heap orders the nodes by levels, with k children each.
func heap(k dme.NodeID) func(dme.NodeID) dme.NodeID {
	return func(i dme.NodeID) dme.NodeID { return (i-2)/k + 1 }
}

// radiating orders the nodes by levels, such that every node that is not on the
// last two has degree k: k children at the root, k−1 elsewhere. This is the
// "radiating star" of the textbook's section 9.12.5, whose longest path grows
// with log N to the base k−1.
func radiating(k dme.NodeID) func(dme.NodeID) dme.NodeID {
	return func(i dme.NodeID) dme.NodeID {
		if i <= k+1 {
			return root
		}
		return (i-k-2)/(k-1) + 2
	}
}
