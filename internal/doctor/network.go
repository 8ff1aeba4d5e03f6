package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"dmebench/report/units"
	"dmebench/transport/udp"
)

// networkReading is what became of trying the network of this host from this host.
type networkReading struct {
	loopback error  // why processes cannot reach each other by 127.0.0.1
	through  string // the network interface that has the address; "" where none is known
	mtu      int    // its largest packet

	tcp, udp, multicast error // why a process cannot reach one at the address

	receive, send, asked int // bytes of a socket's buffers
	buffers              error
}

// readNetwork tries what runs will do, at the address where transports listen.
func readNetwork(ctx context.Context, listen string) (r networkReading) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	deadline, _ := ctx.Deadline()
	r.through, r.mtu = interfaceOf(listen)
	var wait sync.WaitGroup
	wait.Go(func() { r.loopback = tryTCP(ctx, defaultListen) })
	wait.Go(func() { r.tcp = tryTCP(ctx, listen) })
	wait.Go(func() { r.udp = tryUDP(ctx, listen) })
	wait.Go(func() { r.multicast = udp.TryMulticast(listen, deadline) })
	wait.Wait()
	r.receive, r.send, r.asked, r.buffers = udp.Granted(listen)
	return r
}

// interfaceOf returns the name of the network interface that has the address, and
// how large a packet it takes.
func interfaceOf(listen string) (name string, mtu int) {
	at, err := netip.ParseAddrPort(listen)
	if err != nil {
		return "", 0
	}
	all, err := net.Interfaces()
	if err != nil {
		return "", 0
	}
	for _, i := range all {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr() == at.Addr().Unmap().WithZone("") {
				return i.Name, i.MTU
			}
		}
	}
	return "", 0
}

// attempt is an error of trying the network, with what was being done.
type attempt struct {
	doing string // "listen", "connect", "exchange"
	err   error
}

func (a *attempt) Error() string { return a.doing + ": " + a.err.Error() }
func (a *attempt) Unwrap() error { return a.err }

// tryTCP listens at the address, connects to it, and has a few bytes returned.
func tryTCP(ctx context.Context, listen string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return &attempt{"listen", err}
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	defer l.Close()
	deadline, _ := ctx.Deadline()
	wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(deadline)
				_, _ = io.CopyN(conn, conn, markSize)
			})
		}
	})
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return &attempt{"connect", err}
	}
	defer conn.Close()
	_ = conn.SetDeadline(deadline)
	mark, back := newMark(), make([]byte, markSize)
	if _, err := conn.Write(mark); err != nil {
		return &attempt{"exchange", err}
	}
	if _, err := io.ReadFull(conn, back); err != nil {
		return &attempt{"exchange", err}
	}
	if !bytes.Equal(mark, back) {
		return &attempt{"exchange", errors.New("somebody else answers at this address")}
	}
	return nil
}

// tryUDP has a datagram sent from one socket at the address to another one.
func tryUDP(ctx context.Context, listen string) error {
	to, err := new(net.ListenConfig).ListenPacket(ctx, "udp", listen)
	if err != nil {
		return &attempt{"listen", err}
	}
	defer to.Close()
	from, err := new(net.ListenConfig).ListenPacket(ctx, "udp", listen)
	if err != nil {
		return &attempt{"listen", err}
	}
	defer from.Close()
	mark, got := newMark(), make([]byte, markSize+1)
	for range 3 { // one of them will find room
		if _, err := from.WriteTo(mark, to.LocalAddr()); err != nil {
			return &attempt{"send", err}
		}
	}
	deadline, _ := ctx.Deadline()
	_ = to.SetReadDeadline(deadline)
	for {
		n, _, err := to.ReadFrom(got)
		if err != nil {
			return &attempt{"exchange", err}
		}
		if bytes.Equal(got[:n], mark) {
			return nil
		}
	}
}

const markSize = 16

// newMark returns bytes that nobody else sends.
func newMark() []byte {
	mark := make([]byte, markSize)
	_, _ = rand.Read(mark) // it never fails
	return mark
}

// judge says what trying the network means for runs.
func (r networkReading) judge(o Options) []Finding {
	host, _, _ := net.SplitHostPort(o.Listen)
	local := onLoopback(o.Listen)
	var all []Finding

	loopback := Finding{Check: "loopback", Found: "processes reach one another at 127.0.0.1"}
	if r.loopback != nil {
		loopback.Level = Problem
		loopback.Found = "processes cannot reach one another at 127.0.0.1: " + r.loopback.Error()
		loopback.Do = "bring it up: ip link set lo up"
	}
	all = append(all, loopback)

	by := ""
	if r.through != "" {
		by = fmt.Sprintf(" (%s)", r.through)
	}
	for _, way := range []struct {
		name string
		err  error
	}{{"tcp", r.tcp}, {"udp", r.udp}} {
		f := Finding{Check: way.name, Found: fmt.Sprintf("a process reaches another one at %s%s", host, by)}
		if way.err != nil {
			f.Level = Problem
			f.Found = fmt.Sprintf("a process does not reach another one on this host at %s%s: %v", host, by, way.err)
			f.Do = adviceAt(host, way.name, way.err)
		}
		all = append(all, f)
	}

	multicast := Finding{Check: "multicast", Found: "datagrams to a group come back at " + host}
	if r.multicast != nil {
		multicast.Level = Note
		multicast.Found = r.multicast.Error()
		multicast.Do = "nothing, unless runs are to use --set multicast=true over udp: then listen at an IPv4 address of an interface " +
			"that multicasts (ip link set NAME multicast on) and let datagrams to 239.192.0.0/14 pass"
	}
	all = append(all, multicast, r.judgeBuffers())

	if !local && r.mtu > 0 {
		all = append(all, r.judgeMTU(host))
	}
	return all
}

// judgeBuffers says whether sockets get the buffers that they ask for.
func (r networkReading) judgeBuffers() Finding {
	f := Finding{Check: "udp-buffers"}
	if r.buffers != nil {
		f.Level, f.Found = Note, "not known: "+r.buffers.Error()
		return f
	}
	f.Found = fmt.Sprintf("%s to receive and %s to send, of %s asked for",
		units.Bytes(uint64(r.receive)), units.Bytes(uint64(r.send)), units.Bytes(uint64(r.asked)))
	if r.receive < r.asked || r.send < r.asked {
		f.Level = Warning
		f.Do = fmt.Sprintf("raise the bounds: sysctl -w net.core.rmem_max=%d net.core.wmem_max=%[1]d; "+
			"the kernel drops datagrams that find a buffer full", r.asked)
	}
	return f
}

// judgeMTU says whether a datagram of a transport fits one packet.
func (r networkReading) judgeMTU(host string) Finding {
	headers := 28 // of IPv4 and UDP
	if a, err := netip.ParseAddr(host); err == nil && a.Unmap().Is6() {
		headers = 48
	}
	f := Finding{Check: "mtu", Found: fmt.Sprintf("packets of %s bytes on %s", units.Count(uint64(r.mtu)), r.through)}
	if largest := udp.DatagramSize + headers; r.mtu < largest {
		f.Level = Note
		f.Found += fmt.Sprintf(", where datagrams of --transport udp take up to %s: they travel in two fragments", units.Count(uint64(largest)))
		f.Do = "raise the interface's MTU, or know that a datagram is lost where one of its fragments is"
	}
	return f
}

func onLoopback(listen string) bool {
	at, err := netip.ParseAddrPort(listen)
	return err == nil && at.Addr().IsLoopback()
}

// adviceAt says what to do about a host that does not reach itself at an address.
func adviceAt(host, network string, err error) string {
	var a *attempt
	listening := errors.As(err, &a) && a.doing == "listen"
	switch {
	case listening && errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("no interface of this host has the address %s: give one that 'ip addr' shows", host)
	case listening && errors.Is(err, syscall.EADDRINUSE):
		return "choose another port, or 0 for any that is free"
	case listening:
		return "give an address of this host, HOST:PORT, with port 0 for any that is free"
	}
	tables := "iptables"
	if a, err := netip.ParseAddr(host); err == nil && a.Unmap().Is6() {
		tables = "ip6tables"
	}
	return whyNot(network, err) + fmt.Sprintf("; let this host reach itself: %s -I INPUT -s %s -d %[2]s -j ACCEPT", tables, host)
}

// whyNot gives the probable reason for which another address is not reached.
func whyNot(network string, err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return "a firewall of this host forbids it to send"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there, or a firewall rejects " + network
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EINVAL):
		return "there is no route to it, the host there is down, or a firewall rejects " + network
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "something between cuts connections"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "a firewall drops " + network + ", or nothing has the address"
	}
	return "the network does not let it pass"
}
