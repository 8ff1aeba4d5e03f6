package program

import "syscall"

// endWithParent makes a process end with the thread that starts it, however that ends.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
