package servers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// descendants returns the processes that descend from one: those of a server may have
// groups and sessions of their own.
func descendants(pid int) []int {
	children := make(map[int][]int)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		b, _ := os.ReadFile(file)
		var state string
		var parent int
		// The name of the program, in brackets, may itself hold brackets and spaces.
		_, err := fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent)
		if child, e := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && e == nil {
			children[parent] = append(children[parent], child)
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all[1:]
}

// owns reports whether a process has the end with this port of a connection over TCP on this host.
func owns(pid, port int) bool {
	table, _ := os.ReadFile("/proc/net/tcp")
	end := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 10 || !strings.HasSuffix(f[1], end) {
			continue
		}
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, file := range files {
			if to, _ := os.Readlink(file); to == "socket:["+f[9]+"]" {
				return true
			}
		}
	}
	return false
}
