// Package launch starts processes of this very program, under a hidden
// sub-command, and ends them.
//
// The protocol is the same for all of them. A process reads JSON values from its
// standard input; the first is its configuration, which may hold secrets and so
// is never on a command line. It may answer with JSON values on its standard
// output. Once its standard input ends it has to leave: that is how it is told to
// go, and how it learns that whoever started it is gone, in whatever way.
//
// [Local] starts processes on this host, as children. [Parent] is the other end,
// inside the process that was started.
// A process under test is the test binary itself: its TestMain asks [Is].
package launch

// Command says what to start.
type Command struct {
	Word       string // the hidden sub-command, the process's only argument
	Name       string // who it is, for errors: "worker 3"
	Config     any    // what it reads first, written as JSON
	GOMAXPROCS int    // 0 for the Go runtime's own choice
}

// Process is a process that was started. It is reaped as soon as it ends.
type Process interface {
	PID() int

	// Ended is closed once the process has been reaped. Outcome then says how it
	// ended: "exit status 2", "signal: killed".
	Ended() <-chan struct{}
	Outcome() string

	// Kill ends the process at once.
	Kill()

	// Pause makes the process stand still, and returns once it does; Resume lets
	// it go on. An error says that the process has ended.
	Pause() error
	Resume() error

	// Stopped reports whether a signal has stopped the process, as far as can be
	// told.
	Stopped() bool

	// Stderr returns the first and last lines that the process has written to
	// its standard error.
	Stderr() []string
}

// Is reports whether a program with these arguments was started under the
// hidden sub-command of that word.
func Is(args []string, word string) bool { return len(args) == 2 && args[1] == word }
