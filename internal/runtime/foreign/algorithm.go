// Package foreign runs nodes of a mutual exclusion algorithm that are written in other languages,
// as processes of their own.
//
// A node reads JSON from its standard input and writes JSON to its standard output, one message a
// line, as the nodes of Maelstrom do
// (https://github.com/jepsen-io/maelstrom/blob/main/doc/protocol.md):
//
//	{"src": "n1", "dest": "n2", "body": {"type": "REQUEST", "clock": 7}}
//
// Nodes are called n1, n2, … nN. The client of node n3 is c3: it is the local process that asks for
// the critical section. The messages between the two are
//
//	c3 → n3   init      node_id, node_ids, msg_id; once, before anything else
//	n3 → c3   init_ok   in_reply_to
//	c3 → n3   request   msg_id: the local process asks for the critical section
//	n3 → c3   entered   in_reply_to: it may enter; "clock" is the request's time stamp, if it has one
//	c3 → n3   release   msg_id: it leaves
//	n3 → c3   released  in_reply_to
//	c3 → n3   stop      no more requests will come; only if init_ok said "stop": true
//
// A client has one call under way at a time: it asks again only after released. Everything that a
// node addresses to another node is carried to that node as it is, over the network of the run; its
// type is what messages are counted by.
//
// [Algorithm] describes such nodes to everything that looks at algorithms. A [Child] is the process
// of one node, and a [Host] what it lives in. A process that breaks the protocol ends the run, with
// an error that names the node and the line; one that enters when it was not asked is a violation
// of mutual exclusion.
//
// The inside of the process cannot be seen: it is not searched, simulated or replayed, and that
// it is idle is found out from outside, see [Child.idle].
package foreign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/dme"
)

// Word is the name of the algorithm whose nodes are processes in other languages.
// A run shows it with what it is called: exec:node.py.
const Word = "exec"

// The options of the algorithm.
const (
	CommandOption = "command" // what to start for each node
	SettleOption  = "settle"  // how long a node that has nothing to do is silent
	NeedsOption   = "needs"   // what it needs from the links
)

// defaultSettle is long for a process that answers, and short for a person.
const defaultSettle = "20ms"

// maxSettle bounds how long silence may take.
const maxSettle = 10 * time.Second

// otherTypes counts messages whose type came after there was no counter left.
const otherTypes = "other types"

func Is(name string) bool { return name == Word || strings.HasPrefix(name, Word+":") }

// interpreters are programs whose first argument says more than they do.
var interpreters = []string{"python", "node", "ruby", "perl", "java", "sh", "bash", "deno", "bun", "php", "lua", "env", "julia", "Rscript"}

// Named returns the name that the nodes started by a command go by: exec and the
// name of the program, or that of the script of an interpreter.
func Named(command string) string {
	args, err := Split(command)
	if err != nil {
		return Word
	}
	name := filepath.Base(args[0])
	for _, arg := range args[1:] {
		if !isInterpreter(name) {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			name = filepath.Base(arg)
		}
	}
	return Word + ":" + name
}

func FullName(algorithm string, set map[string]string) string {
	if command := set[CommandOption]; algorithm == Word && command != "" {
		return Named(command)
	}
	return algorithm
}

func isInterpreter(name string) bool {
	return slices.Contains(interpreters, strings.TrimRight(name, "0123456789."))
}

// Algorithm describes nodes in other languages. The kinds of messages that they send are known
// once they have run: until then kinds have no names.
func Algorithm(name string) *dme.Algorithm {
	a := &dme.Algorithm{
		Name: name, Title: name, Class: dme.Permission,
		Citation: "a program of the user's own",
		Needs: func(o dme.Options) dme.Needs {
			switch o.Get(NeedsOption) {
			case "fifo":
				return dme.Needs{Reliable: true, FIFO: true}
			case "reliable":
				return dme.Needs{Reliable: true}
			}
			return dme.Needs{}
		},
		Options: []dme.Option{
			{Name: CommandOption, Forms: []string{"COMMAND"}, Valid: func(s string) error { _, err := Split(s); return err },
				Help: "what to start for each node; split into words as a shell does, and given to none"},
			{Name: SettleOption, Default: defaultSettle, Forms: []string{"DURATION"}, Valid: dme.Valid(dme.Lasting(1, maxSettle)),
				Help: "for how long a node that has read everything must be silent to count as idle"},
			{Name: NeedsOption, Default: "fifo", Words: []string{"fifo", "reliable", "nothing"},
				Help: "what the algorithm needs from the links: order between each pair of nodes, no loss, or nothing"},
		},
		Prepare: func(c dme.Config) (dme.System, error) {
			if c.Options.Get(CommandOption) == "" {
				return nil, fmt.Errorf("%s: which program is a node? Give --exec COMMAND, or set: {%s: COMMAND} in a file", name, CommandOption)
			}
			return system{}, nil
		},
	}
	for k := range dme.MaxKinds {
		a.Kinds = append(a.Kinds, fmt.Sprintf("type %d", k+1))
	}
	return a
}

func Available(command string) error {
	args, err := Split(command)
	if err != nil {
		return fmt.Errorf("--exec %q: %w", command, err)
	}
	_, err = exec.LookPath(args[0])
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("--exec %q: %s is not executable; chmod +x %s, or name its interpreter first", command, args[0], args[0])
	case strings.Contains(args[0], "/"):
		return fmt.Errorf("--exec %q: there is no program %s", command, args[0])
	}
	if _, here := os.Stat(args[0]); here == nil {
		return fmt.Errorf("--exec %q: there is no program %s on the PATH; write ./%s for the one in this folder", command, args[0], args[0])
	}
	return fmt.Errorf("--exec %q: there is no program %s on the PATH", command, args[0])
}

type system struct{}

func (system) Node(dme.NodeID) dme.Node { return new(Node) }

// Node is the end of a node that lies on this side of the pipes.
type Node struct{ child *Child }

func (n *Node) Attach(c *Child) { n.child = c }

func (n *Node) Request(*dme.Outbox) {
	if n.child != nil {
		n.child.request()
	}
}

func (n *Node) Release(*dme.Outbox) {
	if n.child != nil {
		n.child.release()
	}
}

func (n *Node) Stop(*dme.Outbox) {
	if n.child != nil {
		n.child.stop()
	}
}

func (n *Node) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
	out.Refuse("a node in another language takes no such message")
}

func (n *Node) State(*dme.Visitor) {}

// Launcher starts processes that end with this process, however it ends. On Linux the kernel does
// that, but its notion of a parent is the thread that has started a process: the launcher has one
// for itself.
type Launcher struct {
	jobs chan func()
}

func NewLauncher() *Launcher {
	l := &Launcher{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the launcher
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

func (l *Launcher) start(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	l.jobs <- func() { started <- cmd.Start() }
	return <-started
}

func (l *Launcher) Close() { close(l.jobs) }

// Types numbers the types of messages as kinds, in the order in which they are
// first met. There are as many counters as there are kinds: the last one is for all
// types that come later. The zero value is ready for use.
type Types struct {
	mu    sync.Mutex
	names []string
}

func (t *Types) Kind(name []byte) dme.Kind {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.names, string(name)); i >= 0 {
		return dme.Kind(i + 1)
	}
	if len(t.names) >= dme.MaxKinds-1 {
		if len(t.names) < dme.MaxKinds {
			t.names = append(t.names, otherTypes)
		}
		return dme.MaxKinds
	}
	t.names = append(t.names, string(name))
	return dme.Kind(len(t.names))
}

func (t *Types) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.names)
}

// Union lists types that several have met, by name; if there are more than counters, what is left
// over is one, the last.
func Union(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool { return name == otherTypes })
	if len(names) < all || all > dme.MaxKinds {
		names = append(names[:min(len(names), dme.MaxKinds-1)], otherTypes)
	}
	return names
}
