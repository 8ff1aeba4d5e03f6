package launch

import (
	"bytes"
	"fmt"
	"os"
)

// stopped reports whether a process is stopped by a signal.
func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program, in brackets, may itself hold brackets and spaces.
	end := bytes.LastIndexByte(b, ')')
	return err == nil && end >= 0 && bytes.HasPrefix(b[end+1:], []byte(" T"))
}
