package udp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"dmebench/transport"
)

// group is the IP multicast group of a run: what is sent there once, all of its
// processes receive, the sender too.
type group struct {
	at     netip.AddrPort
	socket *socket
}

// groupOf returns a run's group, which follows from its key so that all of its
// processes know it: an address of the organization-local scope (RFC 2365, 6.2)
// and a port below those that systems give out by themselves. That another run
// has the same is unlikely, and harms nobody: its datagrams are refused.
func groupOf(key *transport.Key) netip.AddrPort {
	const firstPort, ports = 20_000, 10_000
	sum := key.Derive("udp group")
	addr := netip.AddrFrom4([4]byte{239, 192 + sum[0]%4, sum[1], sum[2]})
	return netip.AddrPortFrom(addr, firstPort+binary.BigEndian.Uint16(sum[3:])%ports)
}

// join makes a process a member of a group, by the network interface that its
// own socket listens at, and has what that socket sends to groups leave there.
func join(at netip.AddrPort, own *socket) (*group, error) {
	socket, err := joinAt(at, own)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot use the multicast group %v from %v: %w; "+
			"listen at an IPv4 address of an interface that multicasts, or leave multicast out", at, own.conn.LocalAddr(), err)
	}
	return &group{at, socket}, nil
}

func joinAt(at netip.AddrPort, own *socket) (*socket, error) {
	local := own.conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if !local.Is4() || local.IsUnspecified() {
		return nil, errors.New("the address to listen at says no interface")
	}
	through, err := interfaceOf(local)
	if err != nil {
		return nil, err
	}
	if err := own.multicastBy(local); err != nil {
		return nil, err
	}
	conn, err := net.ListenMulticastUDP("udp4", through, net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return newSocket(conn)
}

// interfaceOf returns the network interface that has the address.
func interfaceOf(local netip.Addr) (*net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for i := range all {
		addrs, err := all[i].Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && (p.Addr() == local || local.IsLoopback() && p.Contains(local)) {
				return &all[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has the address %v", local)
}
