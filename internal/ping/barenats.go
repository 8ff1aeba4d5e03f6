package ping

import (
	"fmt"

	natsgo "github.com/nats-io/nats.go"
)

// bareNATS is the client library alone, as its documentation shows it.
type bareNATS struct {
	conn     *natsgo.Conn
	self     int
	subjects []string // by process
}

func openBareNATS(o *order, receive receiver) (endpoint, error) {
	conn, err := natsgo.Connect(o.Broker.URL, natsgo.Token(o.Broker.Token))
	if err != nil {
		return nil, err
	}
	_, err = conn.Subscribe(subject(o.Index), func(m *natsgo.Msg) { receive(m.Data) })
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &bareNATS{conn: conn, self: o.Index}, nil
}

func subject(process int) string { return fmt.Sprintf("ping.%d", process) }

func (b *bareNATS) address() string { return subject(b.self) }

func (b *bareNATS) start(book []string, _ []int) error {
	b.subjects = book
	return nil
}

func (b *bareNATS) send(to int, m []byte) error { return b.conn.Publish(b.subjects[to], m) }

func (b *bareNATS) flush() error { return nil }

func (b *bareNATS) stream(to int) writer { return &bareNATSStream{b, to} }

func (b *bareNATS) close() { b.conn.Close() }

type bareNATSStream struct {
	*bareNATS
	to int
}

func (s *bareNATSStream) write(m []byte) error { return s.send(s.to, m) }
