package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"dmebench/transport/udp"
	"dmebench/units"
)

// networkReading is what became of trying the network of this host from this host.
type networkReading struct {
	loopback            error // why processes cannot reach each other by 127.0.0.1
	tcp, udp, multicast error // why a process cannot reach one at the address

	receive, send, asked int // bytes of a socket's buffers
}

// readNetwork tries what runs will do, at the address where transports listen.
func readNetwork(ctx context.Context, listen string) (r networkReading) {
	r.loopback, _ = reachSelf(ctx, loopback)
	r.tcp, r.udp = reachSelf(ctx, listen)
	r.multicast = udp.TryMulticast(listen, time.Now().Add(patience))
	if receive, send, asked, err := udp.Granted(listen); err == nil {
		r.receive, r.send, r.asked = receive, send, asked
	}
	return r
}

// reachSelf tries whether a process reaches another one on this host at an address.
func reachSelf(ctx context.Context, listen string) (tcp, udp error) {
	g, err := OpenGate(listen, "self", bytes.Repeat([]byte{1}, 32))
	if err != nil {
		return err, err
	}
	defer g.Close()
	_, _, tcp = g.reachTCP(ctx, g.Doors(), 1)
	_, _, udp = g.reachUDP(ctx, g.Doors(), 1, new(Path))
	return tcp, udp
}

// judge says what trying the network means for runs.
func (r *networkReading) judge(listen string) []Finding {
	host, _, _ := net.SplitHostPort(listen)
	all := []Finding{fine("loopback", "processes reach one another at 127.0.0.1")}
	if r.loopback != nil {
		all[0] = fine("loopback", "processes cannot reach one another at 127.0.0.1: %v", r.loopback).
			raise(true, Problem, "bring it up: ip link set lo up")
	}
	all = append(all, judgeSelf("tcp", host, r.tcp), judgeSelf("udp", host, r.udp))
	multicast := fine("multicast", "datagrams to a group come back at %s", host)
	if r.multicast != nil {
		multicast = fine("multicast", "%v", r.multicast).raise(true, Note, "nothing, unless runs are to use --set multicast=true over udp: "+
			"then listen at an IPv4 address of an interface that multicasts (ip link set NAME multicast on) "+
			"and let datagrams to 239.192.0.0/14 pass")
	}
	buffers := notKnown("udp-buffers", "not known")
	if r.asked > 0 {
		buffers = fine("udp-buffers", "%s to receive and %s to send, of %s asked for",
			units.Bytes(uint64(r.receive)), units.Bytes(uint64(r.send)), units.Bytes(uint64(r.asked))).
			raise(min(r.receive, r.send) < r.asked, Warning, fmt.Sprintf("raise the bounds: sysctl -w net.core.rmem_max=%d "+
				"net.core.wmem_max=%[1]d; the kernel drops datagrams that find a buffer full", r.asked))
	}
	return append(all, multicast, buffers)
}

func judgeSelf(network, host string, err error) Finding {
	if err == nil {
		return fine(network, "a process reaches another one at %s", host)
	}
	f := fine(network, "a process does not reach another one on this host at %s: %v", host, err)
	var op *net.OpError
	listening := errors.As(err, &op) && op.Op == "listen"
	return f.raise(errors.Is(err, syscall.EADDRNOTAVAIL), Problem, "no interface of this host has the address: give one that 'ip addr' shows").
		raise(listening, Problem, "choose an address of this host, and another port, or 0 for any that is free").
		raise(!listening, Problem, whyNot(network, err)+"; let this host reach itself: iptables -I INPUT -s "+host+" -d "+host+" -j ACCEPT")
}

// whyNot gives the probable reason for which another address is not reached.
func whyNot(network string, err error) string {
	var timeout interface{ Timeout() bool }
	is := func(some ...error) bool {
		return slices.ContainsFunc(some, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case is(syscall.EPERM, syscall.EACCES):
		return "a firewall of this host forbids it to send"
	case is(syscall.ECONNREFUSED):
		return "nobody listens there, or a firewall rejects " + network
	case is(syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EINVAL):
		return "there is no route to it, the host there is down, or a firewall rejects " + network
	case is(syscall.ECONNRESET, io.EOF, io.ErrUnexpectedEOF):
		return "something between cuts connections"
	case is(context.DeadlineExceeded, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "a firewall drops " + network + ", or nothing has the address"
	}
	return "the network does not let it pass"
}
