package platform

import (
	"fmt"
	"net"
	"os"
	"testing"
)

// Servers can listen at all of the ports, none of which the system hands out.
func TestFreePorts(t *testing.T) {
	ports, err := FreePorts(50)
	if err != nil || len(ports) != 50 {
		t.Fatal(ports, err)
	}
	first := 32_768
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		fmt.Sscan(string(text), &first)
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err) // taken, or twice in the list
		}
		defer l.Close()
		if first >= 32_768 && port >= first {
			t.Errorf("port %d may be handed out: those from %d on are", port, first)
		}
	}
}
