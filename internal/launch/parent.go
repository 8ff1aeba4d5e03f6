package launch

import (
	"encoding/json"
	"io"
)

// Parent is whoever has started this process, as seen from inside it.
type Parent struct {
	in  *json.Decoder
	out *json.Encoder
}

// NewParent returns the parent at the ends of this process's standard input and
// output.
func NewParent(stdin io.Reader, stdout io.Writer) *Parent {
	return &Parent{json.NewDecoder(stdin), json.NewEncoder(stdout)}
}

// Receive decodes the next value that the parent has sent; io.EOF where it wants
// this process to leave, or is gone.
func (p *Parent) Receive(value any) error { return p.in.Decode(value) }

// Send answers the parent. It is called by one goroutine at a time.
func (p *Parent) Send(value any) error { return p.out.Encode(value) }

// Wait returns when this process is to leave. What the parent sends meanwhile is
// ignored.
func (p *Parent) Wait() {
	for p.in.Decode(new(json.RawMessage)) == nil {
	}
}
