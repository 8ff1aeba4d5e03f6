package mem

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

func TestConformance(t *testing.T) {
	var network Network
	transporttest.Run(t, transporttest.Subject{
		Name: "mem", Guarantees: Guarantees, InProcess: true, Connectionless: true,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			backlog := transport.MaxBacklog
			if k.Backlog > 0 {
				backlog = k.Backlog
			}
			return listen(&network, c, backlog)
		},
	})
}

type nobody struct{}

func (nobody) Frame(_, _ dme.NodeID, _ []byte) {}
func (nobody) Down(dme.NodeID, error)          {}

func TestMisuse(t *testing.T) {
	var network Network
	if _, err := Listen(&network, transport.Config{Nodes: 1}); err == nil || !strings.Contains(err.Error(), "key is zero") {
		t.Errorf("without a key: %v", err)
	}
	tr, err := Listen(&network, transport.Config{Nodes: 1, Local: []dme.NodeID{1}, Key: transporttest.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Send(1, 1, nil); err == nil {
		t.Error("Send before Start: no error")
	}
	if err := tr.Start(transport.AddressBook{"elsewhere"}, nobody{}); err != nil {
		t.Errorf("a book with an address of one's own choice: %v", err)
	}
	if err := tr.Send(1, 1, nil); err != nil {
		t.Errorf("to an address where nobody listens: %v", err)
	}
	if err := tr.Start(transport.AddressBook{tr.Addr()}, nobody{}); err == nil {
		t.Error("a second Start: no error")
	}
	tr.Close()
	if err := tr.Flush(); err == nil {
		t.Error("Flush after Close: no error")
	}
}
