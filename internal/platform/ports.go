package platform

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePorts returns n unused ports of this host's loopback, for servers that come back where they
// were. They lie below the ports that systems hand out by default: one of those could be taken
// while its server is down.
func FreePorts(n int) (all []int, err error) {
	const lowest, below, tries = 10_000, 32_768, 1000
	for try := 0; len(all) < n; try++ {
		port := lowest + rand.IntN(below-lowest)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close() // all at the end: no port twice
			all = append(all, port)
		} else if try == tries {
			return nil, fmt.Errorf("no free port of the loopback from %d on: %w", lowest, err)
		}
	}
	return all, nil
}
