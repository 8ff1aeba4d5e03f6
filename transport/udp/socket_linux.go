package udp

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/rawio"
	"dmebench/transport"
)

const receiveSlots = 16

type socket struct {
	conn *net.UDPConn
	raw  syscall.RawConn
	ipv6 bool

	received, sent int // bytes of buffer granted
	in             inbox
	finalDrops     atomic.Uint64
}

// newSocket takes a connection over.
func newSocket(conn *net.UDPConn) (*socket, error) {
	s := &socket{conn: conn}
	s.raw, _ = conn.SyscallConn() // fails only without a connection
	s.in.init()
	err := s.control(func(fd int) error {
		family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		s.ipv6 = family == unix.AF_INET6
		s.received = enlarge(fd, unix.SO_RCVBUF, unix.SO_RCVBUFFORCE)
		s.sent = enlarge(fd, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE)
		return err
	})
	return s, err
}

func (s *socket) control(f func(fd int) error) error {
	var failed error
	if err := s.raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// multicastBy makes what is sent to groups leave by the interface that has the address.
func (s *socket) multicastBy(local netip.Addr) error {
	return s.control(func(fd int) error {
		return unix.SetsockoptInet4Addr(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, local.As4())
	})
}

// enlarge asks for a buffer and returns what was granted: all of it to root.
func enlarge(fd, option, force int) int {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, bufferSize) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, bufferSize)
	}
	granted, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	return granted / 2 // the kernel doubles what it is asked for, for its own account
}

// message is struct mmsghdr.
type message struct {
	header unix.Msghdr
	size   uint32
}

type inbox struct {
	messages [receiveSlots]message
	vectors  [receiveSlots]unix.Iovec
	memory   []byte // touched only if large datagrams arrive
	calls    rawio.Calls
}

func (in *inbox) init() {
	in.memory = make([]byte, receiveSlots<<16)
	for i := range in.messages {
		in.vectors[i].Base = &in.memory[i<<16]
		in.vectors[i].SetLen(1 << 16)
		in.messages[i].header.Iov = &in.vectors[i]
		in.messages[i].header.SetIovlen(1)
	}
}

// receive hands over datagrams until the socket is closed, or fails: done is
// called when the socket is empty for the moment, and at least after each
// receiveSlots of them.
//
// It waits for the poller only when a call has found the socket empty, so that
// one system call takes a lone datagram.
func (s *socket) receive(datagram func([]byte), done func()) (err error) {
	in := &s.in
	closed := s.raw.Read(func(fd uintptr) bool {
		for {
			call := unix.Syscall6
			if in.calls.Quick(0) {
				call = unix.RawSyscall6
			}
			n, _, errno := call(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.messages[0])),
				receiveSlots, unix.MSG_DONTWAIT, 0, 0)
			switch errno {
			case 0:
			case unix.EINTR:
				continue
			case unix.EAGAIN:
				return false
			default:
				err = errno
				return true
			}
			for i := range int(n) {
				datagram(in.memory[i<<16:][:in.messages[i].size])
			}
			done()
			if n < receiveSlots {
				return false
			}
		}
	})
	if closed != nil {
		return closed
	}
	return err
}

// drops is how many datagrams found the buffer full.
func (s *socket) drops() uint64 {
	const meminfo = 9 // words of SO_MEMINFO; the last counts drops
	var words [meminfo]uint32
	size := uint32(unsafe.Sizeof(words))
	err := s.control(func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&words)), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 || size != uint32(unsafe.Sizeof(words)) {
			words[meminfo-1] = 0 // an old kernel does not say
		}
		return nil
	})
	if err != nil {
		return s.finalDrops.Load() // closed
	}
	return uint64(words[meminfo-1])
}

func (s *socket) close() {
	s.finalDrops.Store(s.drops())
	s.conn.Close()
}

type sockaddr struct {
	storage unix.RawSockaddrInet6 // or an Inet4, which is smaller
	size    uint32
}

func (s *socket) sockaddr(at netip.AddrPort) (a sockaddr, err error) {
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], at.Port())
	if s.ipv6 {
		a.storage.Family = unix.AF_INET6
		a.storage.Port = binary.NativeEndian.Uint16(port[:])
		a.storage.Addr = at.Addr().As16()
		a.size = unix.SizeofSockaddrInet6
		if zone, err := net.InterfaceByName(at.Addr().Zone()); err == nil { // else there is none
			a.storage.Scope_id = uint32(zone.Index)
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

type outbox struct {
	socket  *socket
	packets [heldPackets]packet
	queued  int // of packets

	next     int // of those that are queued
	counts   *transport.Counters
	calls    rawio.Calls
	attempt  func(fd uintptr) bool
	messages [heldPackets]message
	vectors  [heldPackets]unix.Iovec
}

func newOutbox(s *socket) *outbox {
	o := &outbox{socket: s}
	// Bound once: a method value taken for each write would be an allocation.
	o.attempt = o.write
	return o
}

// send sends the packets that are queued.
func (o *outbox) send(counts *transport.Counters) {
	o.next, o.counts = 0, counts
	for i := range o.packets[:o.queued] {
		p, h := &o.packets[i], &o.messages[i].header
		o.vectors[i].Base = &p.b[0]
		o.vectors[i].SetLen(len(p.b))
		h.Name = (*byte)(unsafe.Pointer(&p.way.to.storage))
		h.Namelen = p.way.to.size
		h.Iov = &o.vectors[i]
		h.SetIovlen(1)
	}
	_ = o.socket.raw.Write(o.attempt) // fails only if the socket is closed
}

// write sends what the socket takes at once, and gives up the rest.
func (o *outbox) write(fd uintptr) bool {
	for o.next < o.queued {
		call := unix.Syscall6
		if o.next == o.queued-1 && o.calls.Quick(len(o.packets[o.next].b)) {
			call = unix.RawSyscall6
		}
		n, _, errno := call(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&o.messages[o.next])),
			uintptr(o.queued-o.next), unix.MSG_DONTWAIT, 0, 0)
		o.counts.Writes++
		switch errno {
		case 0:
			o.counts.Packets += uint64(n)
			for _, p := range o.packets[o.next:][:n] {
				o.counts.Bytes += uint64(len(p.b))
			}
			o.next += int(n)
		case unix.EINTR:
		case unix.EAGAIN:
			o.counts.StalledWrites++
			return true
		case unix.EBADF, unix.ENOTSOCK:
			return true
		default:
			o.next++ // skips the datagram that cannot be sent
		}
	}
	return true
}
