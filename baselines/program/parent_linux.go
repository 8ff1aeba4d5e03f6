package program

import "syscall"

// endWithParent has a process end with the thread that starts it, in whatever way that ends.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
