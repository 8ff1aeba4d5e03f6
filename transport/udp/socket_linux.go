package udp

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dmebench/internal/rawio"
	"dmebench/transport"
)

const (
	receiveSlots = 16 // datagrams taken by one call
	sendSlots    = 64 // datagrams given by one call
	errorsAtOnce = 64 // taken from the error queue between two looks at datagrams
)

// socket is a UDP socket that many datagrams pass in one system call.
type socket struct {
	conn *net.UDPConn
	raw  syscall.RawConn
	ipv6 bool

	received, sent int // bytes of buffer granted
	in             *inbox
	failing        atomic.Bool // a send has met an error that an earlier datagram brought back
	finalDrops     atomic.Uint64
}

func openSocket(listen string) (*socket, error) {
	c, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", listen)
	if err != nil {
		return nil, err
	}
	return newSocket(c.(*net.UDPConn))
}

// newSocket takes a connection over, and closes it where that fails.
func newSocket(conn *net.UDPConn) (*socket, error) {
	s := &socket{conn: conn}
	var err error
	s.raw, err = s.conn.SyscallConn()
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// multicastBy makes what is sent to groups leave by the interface that has the
// address. It reaches no further than that network: the default of one hop.
func (s *socket) multicastBy(local netip.Addr) error {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInet4Addr(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_IF, local.As4())
	})
	if err != nil {
		return err
	}
	return failed
}

// prepare sets the socket up.
func (s *socket) prepare() error {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		family, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			failed = fmt.Errorf("family of the socket: %w", err)
			return
		}
		s.ipv6 = family == unix.AF_INET6
		s.received = enlarge(int(fd), unix.SO_RCVBUF, unix.SO_RCVBUFFORCE)
		s.sent = enlarge(int(fd), unix.SO_SNDBUF, unix.SO_SNDBUFFORCE)
		// Says which peer's port is closed, where a plain socket would say
		// that some peer's is.
		level, option := unix.IPPROTO_IP, unix.IP_RECVERR
		if s.ipv6 {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
		}
		if err := unix.SetsockoptInt(int(fd), level, option, 1); err != nil {
			failed = fmt.Errorf("IP_RECVERR: %w", err)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// enlarge asks for a buffer and returns what was granted: all of it to root,
// up to the system's bound to others.
func enlarge(fd, option, force int) int {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, bufferSize) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, bufferSize)
	}
	granted, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	if err != nil {
		return 0
	}
	return granted / 2 // the kernel doubles what it is asked for, for its own account
}

// message is the kernel's struct mmsghdr.
type message struct {
	header unix.Msghdr
	size   uint32
}

// inbox is where datagrams are received, and what the system call needs for
// that.
type inbox struct {
	messages [receiveSlots]message
	vectors  [receiveSlots]unix.Iovec
	memory   []byte // touched only where large datagrams arrive
	calls    rawio.Calls
}

func newInbox() *inbox {
	in := &inbox{memory: make([]byte, receiveSlots<<16)}
	for i := range in.messages {
		in.vectors[i].Base = &in.memory[i<<16]
		in.vectors[i].SetLen(1 << 16)
		in.messages[i].header.Iov = &in.vectors[i]
		in.messages[i].header.SetIovlen(1)
	}
	return in
}

// receive hands over datagrams until the socket is closed, or fails: done is
// called when the socket is empty for the moment, and at least after each
// receiveSlots of them; refused for each address that says that nobody listens
// there. It is called by one goroutine.
//
// It waits for the poller only when a call has found the socket empty, so that
// one system call takes a lone datagram. What arrives after that call makes
// the poller report again.
func (s *socket) receive(datagram func([]byte), done func(), refused func(netip.AddrPort)) error {
	if s.in == nil {
		s.in = newInbox()
	}
	in := s.in
	return s.raw.Read(func(fd uintptr) bool {
		for failures := 0; ; {
			var n uintptr
			var errno unix.Errno
			if in.calls.Quick(0) {
				n, _, errno = unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.messages[0])),
					receiveSlots, unix.MSG_DONTWAIT, 0, 0)
			} else {
				n, _, errno = unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.messages[0])),
					receiveSlots, unix.MSG_DONTWAIT, 0, 0)
			}
			switch errno {
			case 0:
			case unix.EINTR:
				continue
			case unix.EAGAIN:
				// Woken up for nothing: for an error, perhaps.
				s.takeErrors(int(fd), refused)
				return false
			default:
				// An error that an earlier datagram has brought back is
				// reported once; one that stays is not waited for in here.
				s.takeErrors(int(fd), refused)
				if failures++; failures > errorsAtOnce || errno == unix.EBADF || errno == unix.ENOTSOCK {
					return true
				}
				continue
			}
			failures = 0
			for i := range int(n) {
				datagram(in.memory[i<<16:][:in.messages[i].size])
			}
			done()
			if s.failing.Swap(false) {
				s.takeErrors(int(fd), refused)
			}
			if n < receiveSlots {
				return false
			}
		}
	})
}

// takeErrors empties the socket's error queue, of messages by which the network
// has answered datagrams.
func (s *socket) takeErrors(fd int, refused func(netip.AddrPort)) {
	var control [256]byte
	for range errorsAtOnce {
		_, n, _, to, err := unix.Recvmsg(fd, nil, control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			return
		}
		at, ok := destination(to)
		if ok && saysRefused(control[:n]) {
			refused(at)
		}
	}
}

// saysRefused reports whether control data are of an error that says that the
// port is closed.
func saysRefused(control []byte) bool {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return false
	}
	for _, m := range messages {
		// struct sock_extended_err begins with the error's number.
		if len(m.Data) >= 4 && binary.NativeEndian.Uint32(m.Data) == uint32(unix.ECONNREFUSED) {
			return true
		}
	}
	return false
}

// destination is where a datagram went that an error answers.
func destination(to unix.Sockaddr) (netip.AddrPort, bool) {
	switch a := to.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port)), true
	}
	return netip.AddrPort{}, false
}

// drops is how many datagrams the kernel has thrown away because the buffer was
// full.
func (s *socket) drops() uint64 {
	const meminfo = 9 // words of SO_MEMINFO, the last of which counts drops
	var words [meminfo]uint32
	var got uint64
	err := s.raw.Control(func(fd uintptr) {
		size := uint32(unsafe.Sizeof(words))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&words)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 && size == uint32(unsafe.Sizeof(words)) {
			got = uint64(words[meminfo-1])
		}
	})
	if err != nil {
		return s.finalDrops.Load() // closed
	}
	return got
}

// close ends receive, and waits for it.
func (s *socket) close() {
	s.finalDrops.Store(s.drops())
	s.conn.Close()
}

// sockaddr is an address in the kernel's form.
type sockaddr struct {
	storage unix.RawSockaddrInet6 // or an Inet4, which is smaller
	size    uint32
}

// sockaddr returns the kernel's form of an address.
func (s *socket) sockaddr(at netip.AddrPort) (a sockaddr, err error) {
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], at.Port())
	if s.ipv6 {
		a.storage.Family = unix.AF_INET6
		a.storage.Port = binary.NativeEndian.Uint16(port[:])
		a.storage.Addr = at.Addr().As16()
		a.size = unix.SizeofSockaddrInet6
		if zone := at.Addr().Zone(); zone != "" {
			i, err := net.InterfaceByName(zone)
			if err != nil {
				return a, fmt.Errorf("zone %s: %w", zone, err)
			}
			a.storage.Scope_id = uint32(i.Index)
		}
		return a, nil
	}
	if !at.Addr().Is4() {
		return a, fmt.Errorf("%v is no IPv4 address, and this process listens at one", at.Addr())
	}
	in4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.storage))
	in4.Family = unix.AF_INET
	in4.Port = binary.NativeEndian.Uint16(port[:])
	in4.Addr = at.Addr().As4()
	a.size = unix.SizeofSockaddrInet4
	return a, nil
}

// outbox is datagrams to be sent, and what the system call needs for that.
type outbox struct {
	socket  *socket
	packets []*packet

	next     int  // of packets
	again    bool // the next has met an error that was not its own
	counted  transport.Counters
	calls    rawio.Calls
	attempt  func(fd uintptr) bool
	messages [sendSlots]message
	vectors  [sendSlots]unix.Iovec
}

func newOutbox(s *socket) *outbox {
	o := &outbox{socket: s}
	// Bound once: a method value taken for each write would be an allocation.
	o.attempt = o.write
	return o
}

// send sends the packets, and returns what that adds to the counters.
func (o *outbox) send() transport.Counters {
	o.next, o.again, o.counted = 0, false, transport.Counters{}
	_ = o.socket.raw.Write(o.attempt) // fails only where the socket is closed
	return o.counted
}

// write sends what the socket takes at once, and gives up the rest.
func (o *outbox) write(fd uintptr) bool {
	for o.next < len(o.packets) {
		n, errno := o.call(fd)
		o.counted.Writes++
		switch errno {
		case 0:
			o.counted.Packets += uint64(n)
			for _, p := range o.packets[o.next:][:n] {
				o.counted.Bytes += uint64(len(p.b))
			}
			o.next += n
			o.again = false
		case unix.EINTR:
		case unix.EAGAIN:
			o.counted.StalledWrites++
			return true
		case unix.EBADF, unix.ENOTSOCK:
			return true
		default:
			// Mostly what an earlier datagram has brought back, which is
			// reported instead of sending this one.
			o.socket.failing.Store(true)
			if o.again {
				o.next++
			}
			o.again = !o.again
		}
	}
	return true
}

// call is one system call for the packets from the next one on.
func (o *outbox) call(fd uintptr) (int, unix.Errno) {
	rest := o.packets[o.next:]
	if len(rest) == 1 {
		p := rest[0]
		var errno unix.Errno
		if o.calls.Quick(len(p.b)) {
			_, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&p.b[0])), uintptr(len(p.b)),
				unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&p.way.to.storage)), uintptr(p.way.to.size))
		} else {
			_, _, errno = unix.Syscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&p.b[0])), uintptr(len(p.b)),
				unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&p.way.to.storage)), uintptr(p.way.to.size))
		}
		return 1, errno
	}
	rest = rest[:min(len(rest), sendSlots)]
	for i, p := range rest {
		o.vectors[i].Base = &p.b[0]
		o.vectors[i].SetLen(len(p.b))
		h := &o.messages[i].header
		h.Name = (*byte)(unsafe.Pointer(&p.way.to.storage))
		h.Namelen = p.way.to.size
		h.Iov = &o.vectors[i]
		h.SetIovlen(1)
	}
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&o.messages[0])), uintptr(len(rest)),
		unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}
