package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Site is what placement goes by.
type Site struct {
	Name   string
	Cores  int // for its workers
	Labels map[string]string
}

// Placement says on which hosts the workers of a run are.
type Placement struct {
	text       string
	packed     bool
	key, value string // of labels; "" for all hosts
}

// DefaultPlacement is the placement if none is asked for.
const DefaultPlacement = "round-robin"

// ParsePlacement reads a placement.
func ParsePlacement(text string) (Placement, error) {
	p := Placement{text: text}
	switch rest, labelled := strings.CutPrefix(text, "label:"); {
	case labelled:
		p.key, p.value, _ = strings.Cut(rest, "=")
		if p.key == "" || strings.HasSuffix(rest, "=") {
			return p, fmt.Errorf("placement %q: want label:KEY or label:KEY=VALUE", text)
		}
	case text == "packed":
		p.packed = true
	case text != DefaultPlacement:
		return p, fmt.Errorf("placement %q: want round-robin, packed, label:KEY or label:KEY=VALUE", text)
	}
	return p, nil
}

func (p Placement) String() string { return p.text }

// Place returns for each worker the index of its host among sites, which are in the
// order in which they are to be used. It depends on nothing but its arguments.
func (p Placement) Place(workers int, sites []Site) ([]int, error) {
	if len(sites) == 0 {
		return nil, errors.New("there is no host to place workers on")
	}
	order, err := p.order(sites)
	if err != nil {
		return nil, err
	}
	if p.packed {
		return pack(workers, order, sites), nil
	}
	places := make([]int, workers)
	for w := range places {
		places[w] = order[w%len(order)]
	}
	return places, nil
}

// order returns the hosts that are used, in the order in which they are.
func (p Placement) order(sites []Site) ([]int, error) {
	var order []int
	if p.key == "" {
		for k := range sites {
			order = append(order, k)
		}
		return order, nil
	}
	type pick struct {
		site, row int // row is the site's place among those of its value
		value     string
	}
	var picks []pick
	var without []string
	rows := make(map[string]int)
	for k, s := range sites {
		value, ok := s.Labels[p.key]
		switch {
		case !ok:
			without = append(without, s.Name)
		case p.value == "" || value == p.value:
			picks = append(picks, pick{k, rows[value], value})
			rows[value]++
		}
	}
	switch {
	case p.value == "" && without != nil:
		return nil, fmt.Errorf("placement %s: no label %s on %s; start its agent with --label %s=VALUE",
			p, p.key, strings.Join(without, ", "), p.key)
	case picks == nil:
		return nil, fmt.Errorf("placement %s: no host has the label %s=%s", p, p.key, p.value)
	}
	// One of each value, then the next of each.
	slices.SortFunc(picks, func(a, b pick) int { return cmp.Or(a.row-b.row, strings.Compare(a.value, b.value)) })
	for _, x := range picks {
		order = append(order, x.site)
	}
	return order, nil
}

// pack fills one host after the other. If there are more workers than cores, each host gets its
// share of what is over, by its cores.
func pack(workers int, order []int, sites []Site) []int {
	cores := 0
	for _, k := range order {
		cores += max(1, sites[k].Cores)
	}
	var places []int
	begun := 0 // cores of the hosts so far
	for _, k := range order {
		begun += max(1, sites[k].Cores)
		until := begun
		if workers > cores {
			until = int(int64(workers) * int64(begun) / int64(cores))
		}
		for len(places) < min(until, workers) {
			places = append(places, k)
		}
	}
	return places
}
