package ping

import (
	"errors"
	"time"

	"dmebench/transport"
	"dmebench/transport/nats"
)

// Command is the hidden sub-command by which the program becomes a process of a
// measurement.
const Command = "ping-process"

// A process speaks JSON over its standard input and output. It is told an order
// and answers with a greeting; it takes the addresses of all, connects, and
// answers "ready". From then on it answers each question.

// order is what a process is told first. It holds secrets, and so travels by
// standard input.
type order struct {
	Network   string                  `json:"network"`
	Set       map[string]string       `json:"set,omitempty"` // options of the network
	Bare      bool                    `json:"bare"`
	Index     int                     `json:"index"` // of this process, from 0
	Processes int                     `json:"processes"`
	Size      int                     `json:"size"` // of a message in bytes
	Key       [transport.KeySize]byte `json:"key"`
	Broker    nats.Broker             `json:"broker"` // of a network that has one
}

var errNoOrder = errors.New("ping: this command is started by «dmebench ping», which says on its standard input what to do")

func (o *order) check() error {
	_, known := bareSides[o.Network]
	if !known || o.Processes < 2 || o.Index < 0 || o.Index >= o.Processes || o.Size < MinSize || o.Size > MaxSize {
		return errNoOrder
	}
	return nil
}

// peers returns the processes that this one sends to: the next in the ring, and
// of the first two each the other.
func (o *order) peers() []int {
	to := []int{(o.Index + 1) % o.Processes}
	if o.Index == 1 && o.Processes > 2 {
		to = append(to, 0)
	}
	return to
}

// lossy reports whether messages can get lost.
func (o *order) lossy() bool {
	if o.Bare {
		return o.Network == "udp"
	}
	network, options, err := lookup(o.Network, o.Set)
	return err == nil && !network.Guarantees(options).Reliable
}

type greeting struct {
	Address    string `json:"address"`
	GOMAXPROCS int    `json:"gomaxprocs"`
}

const ready = "ready"

// Task is one stretch of a test.
type Task struct {
	Test    Test          `json:"test"`
	Tokens  int           `json:"tokens,omitempty"` // of a ring
	Stretch time.Duration `json:"stretch_ns"`
}

// question asks the first process to carry out a task, or any process how much
// processor time it has used.
type question struct {
	Task *Task `json:"task,omitempty"`
}

type answer struct {
	Values     Values  `json:"values,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Error      string  `json:"error,omitempty"`
}

// Values are what one stretch has measured, by quantity.
type Values map[string]float64
