package task

import "os"

// yieldMemory asks the kernel to end this process before others where memory is short.
// Where it cannot be asked, it chooses by size, which mostly comes to the same.
func yieldMemory() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }
