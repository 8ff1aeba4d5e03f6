package playground

import (
	"encoding/json"
	"fmt"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/search/trace"
)

// request is what the page asks for. Do says what, the other fields with what.
type request struct {
	Do    string      `json:"do"`
	Text  string      `json:"text"` // a scenario
	Steps []vnet.Step `json:"steps"`
	Count int         `json:"count"`

	Algorithm string            `json:"algorithm"`
	Nodes     int               `json:"nodes"`
	Set       map[string]string `json:"set"`
	For       string            `json:"for"` // what a search looks for
}

// answer has what was asked for, or an error in words.
type answer struct {
	Error string `json:"error,omitempty"`

	Algorithms []algorithmView   `json:"algorithms,omitempty"`
	Scenarios  map[string]string `json:"scenarios,omitempty"` // their texts, by their names

	Algorithm string         `json:"algorithm,omitempty"`
	Title     string         `json:"title,omitempty"`
	Nodes     int            `json:"nodes,omitempty"`
	Kinds     []string       `json:"kinds,omitempty"`
	Lines     []trace.Line   `json:"lines,omitempty"`
	Shape     *Layout        `json:"shape,omitempty"`
	Quorums   [][]dme.NodeID `json:"quorums,omitempty"` // by node: its request set
	Source    string         `json:"source,omitempty"`  // the type of the nodes, as "maekawa.node"
	Taken     []takenView    `json:"taken"`             // new steps
	State     *stateView     `json:"state,omitempty"`

	Text  string      `json:"text,omitempty"`  // a scenario
	Steps []vnet.Step `json:"steps,omitempty"` // the way to the present state
	Found string      `json:"found,omitempty"` // what a search has to say
}

// Call answers a request in JSON. If progress is not nil, it is called now and then with the number
// of schedules or states a search has seen.
func (s *Session) Call(text []byte, progress func(done uint64)) []byte {
	var q request
	err := json.Unmarshal(text, &q)
	var a answer
	if err == nil {
		a, err = s.answer(&q, progress)
	}
	if err != nil {
		a = answer{Error: err.Error()}
	}
	out, err := json.Marshal(a)
	if err != nil {
		panic(err) // of types that all have a form
	}
	return out
}

func (s *Session) answer(q *request, progress func(uint64)) (a answer, err error) {
	switch q.Do {
	case "catalog":
		a.Algorithms, a.Scenarios = s.Catalog.view(), make(map[string]string)
		for _, x := range s.Catalog.Scenarios {
			a.Scenarios[x.Name] = string(x.Text())
		}
		return a, nil
	case "open":
		return s.open(q.Text)
	case "search":
		return s.search(q, progress)
	}
	if s.network == nil {
		return a, fmt.Errorf("nothing is open yet")
	}
	switch q.Do {
	case "do":
		before := len(s.taken)
		err = s.do(q.Steps)
		a.Taken = s.taken[before:]
	case "go": // to where that many steps have been taken
		err = s.goTo(q.Count)
	case "shorter":
		return s.shorter(progress)
	default:
		err = fmt.Errorf("unknown request %q", q.Do)
	}
	a.State = s.state()
	return a, err
}
