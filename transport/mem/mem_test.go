package mem

import (
	"testing"

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
