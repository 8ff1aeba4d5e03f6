package link

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/units"
)

// Sites are places where nodes are, with the delay of a frame from each to each. It comes
// on top of what else delays the frames of a link.
type Sites struct {
	Names []string
	ways  [][]way // from, to: by index in Names

	nodes  int
	place  string
	listed []int // site of node i at i-1, with place=file
}

type way struct{ delay, jitter time.Duration }

// The options that say where nodes are.
const (
	SitesOption = "sites"
	PlaceOption = "place"

	// RegionsName is the value of sites for the table that the program has.
	RegionsName = "regions"

	fromFile   = "file:"
	noSites    = "none"
	Blocks     = "blocks"      // the first nodes at the first site, as many at each
	roundRobin = "round-robin" // node 1 at the first site, node 2 at the second, …
	byFile     = "file"        // as the file lists them

	// located holds what [Locate] has found: the number of nodes, and the table after it.
	located = "located-sites"
)

// SitesIn is the value of sites for the table in a file, or for that of RegionsName.
func SitesIn(file string) string {
	if file == RegionsName {
		return file
	}
	return fromFile + file
}

// Regions is the table of sites that the program has: one-way delays between regions of
// cloud providers as light in fibre takes them, along great circles at 200,000 km/s. Real
// routes are longer, mostly by a factor from 1.2 to 2.
//
//go:embed regions.csv
var Regions []byte

// Locate reads the table of sites that the options name, and places the nodes. readFile
// reads the file of sites=file:F.
func Locate(o dme.Options, nodes int, readFile func(string) ([]byte, error)) error {
	value, text := o.Get(SitesOption), Regions
	if place := o.Get(PlaceOption); value == noSites && place != Blocks {
		return fmt.Errorf("%s=%s: there are no sites; say where they are by %s=regions or %[3]s=file:F", PlaceOption, place, SitesOption)
	}
	if name, ok := strings.CutPrefix(value, fromFile); ok {
		if readFile == nil {
			return fmt.Errorf("%s=%s: no file can be read here", SitesOption, value)
		}
		var err error
		if text, err = readFile(name); err != nil {
			return fmt.Errorf("%s=%s: %w", SitesOption, value, err)
		}
	} else if value != RegionsName {
		return nil
	}
	if _, err := parseSites(text, nodes, o.Get(PlaceOption)); err != nil {
		return fmt.Errorf("%s=%s: %w", SitesOption, value, err)
	}
	o[located] = strconv.Itoa(nodes) + "\n" + string(text)
	return nil
}

// ReadSites returns the sites that the values of the options sites and place say, with the nodes placed.
func ReadSites(sites, place string, nodes int, readFile func(string) ([]byte, error)) (*Sites, error) {
	if err := validPlace(place); err != nil {
		return nil, fmt.Errorf("%s=%s: %w; want %s|%s|%s", PlaceOption, place, err, Blocks, roundRobin, byFile)
	}
	o := dme.Options{SitesOption: sites, PlaceOption: place}
	if err := Locate(o, nodes, readFile); err != nil {
		return nil, err
	}
	return locatedSites(o)
}

// locatedSites returns the sites that Locate has found; nil if there are none.
func locatedSites(o dme.Options) (*Sites, error) {
	count, text, ok := strings.Cut(o[located], "\n")
	if !ok {
		return nil, nil
	}
	nodes, err := strconv.Atoi(count)
	if err != nil {
		return nil, err
	}
	return parseSites([]byte(text), nodes, o.Get(PlaceOption))
}

// parseSites reads lines "from,to,delay" or "from,to,delay,jitter", one-way; without a line
// for the way back that is the same. A line "site,3-5" or "site,7" says which nodes are at
// a site, for place=file. Between nodes of one site there is no delay, unless a line says
// so. Empty lines and what follows a # are passed over.
func parseSites(text []byte, nodes int, place string) (*Sites, error) {
	lines, err := dme.ReadLines(func(string) ([]byte, error) { return text, nil }, "")
	if err != nil {
		return nil, err
	}
	s := &Sites{nodes: nodes, place: place}
	given := make(map[[2]string]way)
	of := make(map[int]string) // sites of nodes
	for _, l := range lines {
		words := strings.Split(l.Text, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		if len(words) == 2 {
			err = s.list(words[0], words[1], of)
		} else {
			err = s.addWay(words, given)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.Number, err)
		}
	}
	if len(s.Names) == 0 {
		return nil, errors.New("there are no sites; want lines 'from,to,delay', such as 'paris,oslo,9ms'")
	}
	for _, from := range s.Names {
		var row []way
		for _, to := range s.Names {
			w, ok := given[[2]string{from, to}]
			if !ok {
				w, ok = given[[2]string{to, from}]
			}
			if !ok && from != to {
				return nil, fmt.Errorf("there is no delay between %s and %s; add a line '%s,%s,10ms'", from, to, from, to)
			}
			row = append(row, w)
		}
		s.ways = append(s.ways, row)
	}
	return s, s.locate(of)
}

func (s *Sites) addWay(words []string, given map[[2]string]way) error {
	if len(words) < 3 || len(words) > 4 || words[0] == "" || words[1] == "" {
		return fmt.Errorf("%q: want 'from,to,delay', 'from,to,delay,jitter' or 'site,nodes'", strings.Join(words, ","))
	}
	var w way
	var err error
	if w.delay, err = parseDuration(words[2]); err != nil {
		return fmt.Errorf("delay %q: %w", words[2], err)
	}
	if len(words) == 4 {
		if w.jitter, err = parseDuration(words[3]); err != nil {
			return fmt.Errorf("jitter %q: %w", words[3], err)
		}
	}
	ends := [2]string(words[:2])
	if _, twice := given[ends]; twice {
		return fmt.Errorf("the delay from %s to %s is given twice", ends[0], ends[1])
	}
	given[ends] = w
	for _, name := range ends {
		if !slices.Contains(s.Names, name) {
			s.Names = append(s.Names, name)
		}
	}
	return nil
}

// list notes the nodes of a site, 'FROM-TO' or one.
func (s *Sites) list(name, nodes string, of map[int]string) error {
	first, last, several := strings.Cut(nodes, "-")
	if !several {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err := errors.Join(err1, err2); err != nil || from < 1 || to < from || to > 1<<20 {
		return fmt.Errorf("%q: want nodes such as 4 or 1-5", nodes)
	}
	for id := from; id <= to; id++ {
		if at, twice := of[id]; twice {
			return fmt.Errorf("node %d is at %s already", id, at)
		}
		of[id] = name
	}
	return nil
}

func (s *Sites) locate(of map[int]string) error {
	if s.place != byFile {
		return nil
	}
	for id := 1; id <= s.nodes; id++ {
		name, ok := of[id]
		at := slices.Index(s.Names, name)
		switch {
		case !ok:
			return fmt.Errorf("%s=%s: no line says where node %d is; want 'site,nodes', such as '%s,1-%d'",
				PlaceOption, byFile, id, s.Names[0], s.nodes)
		case at < 0:
			return fmt.Errorf("node %d is at %s, of which there are no delays%s", id, name, units.Hint(name, s.Names))
		}
		s.listed = append(s.listed, at)
	}
	return nil
}

// Of returns the index in Names of the site where a node is.
func (s *Sites) Of(id dme.NodeID) int {
	switch k := int(id) - 1; s.place {
	case roundRobin:
		return k % len(s.Names)
	case byFile:
		return s.listed[k]
	default:
		return k * len(s.Names) / s.nodes
	}
}

// Apart reports whether two nodes are at different sites. Of nil, none are.
func (s *Sites) Apart(a, b dme.NodeID) bool { return s != nil && s.Of(a) != s.Of(b) }

// Delay returns how long a frame takes on average from one site to another.
func (s *Sites) Delay(from, to int) time.Duration {
	least, most := s.Bounds(from, to)
	return (least + most) / 2
}

// Bounds returns how long a frame takes at least and at most from one site to another.
func (s *Sites) Bounds(from, to int) (least, most time.Duration) {
	w := s.ways[from][to]
	return w.delay, w.longest()
}

func (s *Sites) steady() bool {
	return s == nil || !slices.ContainsFunc(slices.Concat(s.ways...), func(w way) bool { return w.jitter > 0 })
}

// way returns what the sites do to a link; nothing if there are none.
func (s *Sites) way(l Link) way {
	if s == nil {
		return way{}
	}
	return s.ways[s.Of(l.From)][s.Of(l.To)]
}

// longest returns the longest way between two sites.
func (s *Sites) longest() (most time.Duration) {
	if s == nil {
		return 0
	}
	for _, row := range s.ways {
		for _, w := range row {
			most = max(most, w.delay+w.jitter)
		}
	}
	return most
}

func (w way) longest() time.Duration { return w.delay + w.jitter }

func validSites(s string) error {
	if name, ok := strings.CutPrefix(s, fromFile); s == noSites || s == RegionsName || ok && name != "" {
		return nil
	}
	return errors.New("no such sites")
}

func validPlace(s string) error {
	if slices.Contains([]string{Blocks, roundRobin, byFile}, s) {
		return nil
	}
	return errors.New("no such order")
}
