package environment

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// affinity lists the processors that this process may run on.
func affinity() string {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return ""
	}
	var cpus []string
	for i := range 1024 {
		if set.IsSet(i) {
			cpus = append(cpus, fmt.Sprint(i))
		}
	}
	return strings.Join(cpus, ",")
}
