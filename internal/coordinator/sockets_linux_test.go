package coordinator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listeningSockets counts the TCP sockets in state LISTEN that the processes
// hold, as the kernel tells.
func listeningSockets(t *testing.T, pids []int) int {
	t.Helper()
	const listen = "0A"
	count := 0
	for _, pid := range pids {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
		if err != nil {
			t.Fatal(err)
		}
		inodes := make(map[string]bool)
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == listen {
				inodes["socket:["+f[9]+"]"] = true
			}
		}
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil && inodes[target] {
				count++
			}
		}
	}
	return count
}
