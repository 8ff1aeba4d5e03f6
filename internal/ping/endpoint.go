package ping

// endpoint is one process's way to the others: a side of a measurement.
// Processes are counted from 0.
type endpoint interface {
	// address is where the others reach this process.
	address() string

	// start connects to the processes that this one sends to.
	start(book []string, to []int) error

	// send copies a message and passes it on, at the latest when flush is called
	// or when the receiver of the message that is being handled has returned.
	send(to int, m []byte) error
	flush() error

	// stream returns how to send as many messages as the network takes. Calls
	// of send to the same process do not go together with it.
	stream(to int) writer

	// close frees what would outlive this process.
	close()
}

// writer takes the messages of a stream.
type writer interface {
	write(m []byte) error
	flush() error
}

// receiver is called with each message that arrives, which is valid during the
// call. Messages of one process come one after the other.
type receiver func(m []byte)

// open opens the endpoint that an order asks for.
func open(o *order, receive receiver) (endpoint, error) {
	if !o.Bare {
		return openTransport(o, receive)
	}
	return bareSides[o.Network](o, receive)
}

// bareSides are the least that does what a network does.
var bareSides = map[string]func(*order, receiver) (endpoint, error){
	"tcp": openBareTCP, "udp": openBareUDP, "nats": openBareNATS,
}
