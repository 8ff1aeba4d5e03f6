package dme

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Visitor is shown every variable of a node by [Node.State], under its name in
// the paper. It saves the state to bytes, loads it from bytes, prints it, or
// visits its clocks; the same listing serves all four, so they cannot disagree.
//
// A saved state is canonical: equal states give equal bytes, which is what an
// explorer hashes.
type Visitor struct {
	mode visitorMode
	b    []byte // what save appends to, what load consumes
	bad  bool
	vars []Var // what print has collected

	prefix string // of the names of variables that are printed

	each func(ClockVariable) // called with every clock that is visited
}

type visitorMode uint8

const (
	saving visitorMode = iota
	loading
	printing
	visiting // the clocks alone
)

// SaveState appends n's state to b.
func SaveState(b []byte, n Node) []byte {
	v := Visitor{mode: saving, b: b}
	n.State(&v)
	return v.b
}

// LoadState sets n's state, as SaveState of the same node wrote it, and returns the rest.
func LoadState(b []byte, n Node) (rest []byte, err error) {
	v := Visitor{mode: loading, b: b}
	n.State(&v)
	if v.bad {
		return nil, fmt.Errorf("dme: saved state is truncated or foreign")
	}
	return v.b, nil
}

// DescribeState returns n's variables as "name=value", in the order of its listing.
func DescribeState(n Node) string {
	var text strings.Builder
	for i, v := range Variables(n) {
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(v.Name + "=" + v.Value)
	}
	return text.String()
}

// Var is a variable of a node, as it is printed.
type Var struct {
	Name, Value string
	Number      bool // a count; neither a node nor a stamp, nor several of them
}

// Variables returns n's variables, in the order of the node's listing.
func Variables(n Node) []Var {
	v := Visitor{mode: printing}
	n.State(&v)
	return v.vars
}

// Within shows variables whose names begin with a prefix, of a node that is made of several.
func (v *Visitor) Within(prefix string, show func(v *Visitor)) {
	before := v.prefix
	v.prefix += prefix
	show(v)
	v.prefix = before
}

func (v *Visitor) print(name string, value any) {
	_, number := value.(uint64)
	v.vars = append(v.vars, Var{Name: v.prefix + name, Value: fmt.Sprint(value), Number: number})
}

func (v *Visitor) printOr(none bool, name string, value any) {
	if none {
		value = "-"
	}
	v.print(name, value)
}

func (v *Visitor) take() uint64 {
	x, n := binary.Uvarint(v.b)
	if n <= 0 {
		v.bad = true
		v.b = nil
		return 0
	}
	v.b = v.b[n:]
	return x
}

func (v *Visitor) takeNode() NodeID {
	x := v.take()
	if x > 1<<32-1 {
		v.bad = true
	}
	return NodeID(x)
}

func (v *Visitor) put(x uint64) { v.b = binary.AppendUvarint(v.b, x) }

// Uint shows an unsigned integer.
func (v *Visitor) Uint(name string, p *uint64) {
	switch v.mode {
	case saving:
		v.put(*p)
	case loading:
		*p = v.take()
	case printing:
		v.print(name, *p)
	}
}

// Int shows an integer that is never negative, such as an index.
func (v *Visitor) Int(name string, p *int) {
	x := uint64(*p)
	v.Uint(name, &x)
	*p = int(x)
}

// Bool shows a Boolean.
func (v *Visitor) Bool(name string, p *bool) {
	switch v.mode {
	case saving:
		x := uint64(0)
		if *p {
			x = 1
		}
		v.put(x)
	case loading:
		*p = v.take() != 0
	case printing:
		v.print(name, *p)
	}
}

// Node shows a node number; none prints as "-".
func (v *Visitor) Node(name string, p *NodeID) {
	switch v.mode {
	case saving:
		v.put(uint64(*p))
	case loading:
		*p = v.takeNode()
	case printing:
		v.printOr(*p == None, name, *p)
	}
}

// Stamp shows a timestamp; the zero stamp prints as "-". Its clock is a logical
// clock like one that is shown by [Visitor.Clock].
func (v *Visitor) Stamp(name string, p *Stamp) {
	switch v.mode {
	case saving:
		v.put(p.Clock)
		v.put(uint64(p.Node))
	case loading:
		p.Clock = v.take()
		p.Node = v.takeNode()
	case printing:
		v.printOr(p.IsZero(), name, *p)
	case visiting:
		if !p.IsZero() {
			v.each(ClockVariable{Name: name, Value: &p.Clock, Node: p.Node, Live: true})
		}
	}
}

// Text shows a variable by a text if the visit prints, and reports whether it does.
// For any other visit, the variable shows its parts.
func (v *Visitor) Text(name string, text func() string) (printed bool) {
	if v.mode != printing {
		return false
	}
	v.print(name, text())
	return true
}

// Loading reports whether the visit sets the variables from saved bytes.
func (v *Visitor) Loading() bool { return v.mode == loading }

// Fail says that what has been loaded cannot be a state of the node.
func (v *Visitor) Fail() { v.bad = true }

// Len shows the length of a collection that the node then shows element by
// element, and returns the length that it has: the saved one while loading.
// A node resizes its collection to the result before it shows the elements.
func (v *Visitor) Len(n int) int {
	switch v.mode {
	case saving:
		v.put(uint64(n))
	case loading:
		m := v.take()
		// An element takes at least one byte: a longer collection is foreign.
		if m > uint64(len(v.b)) {
			v.bad = true
			v.b = nil
			return 0
		}
		return int(m)
	}
	return n
}

// Uints shows a vector of unsigned integers.
func (v *Visitor) Uints(name string, p *[]uint64) { list(v, name, p, (*Visitor).Uint) }

// Nodes shows a list of nodes, such as a queue, in its order.
func (v *Visitor) Nodes(name string, p *[]NodeID) { list(v, name, p, (*Visitor).Node) }

// Stamps shows a list of timestamps, in its order.
func (v *Visitor) Stamps(name string, p *[]Stamp) { list(v, name, p, (*Visitor).Stamp) }

func list[T any](v *Visitor, name string, p *[]T, show func(v *Visitor, name string, p *T)) {
	if v.mode == printing {
		v.print(name, *p)
		return
	}
	n := v.Len(len(*p))
	*p = slices.Grow((*p)[:0], n)[:n]
	for i := range *p {
		show(v, "", &(*p)[i])
	}
}
