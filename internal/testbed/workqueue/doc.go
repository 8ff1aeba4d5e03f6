// Package workqueue has tasks carried out by the agents of other hosts: cells of simulated sweeps,
// ranges of random schedules, simulations for claims.
//
// [Open] makes a queue on the NATS server of the agents, and [Queue.Do] has one task done and
// returns its answer. A [Taker] takes tasks of all the queues of a server, as many at a time as it
// is given cores, each in a process of its own.
//
// A [Task] says everything that its [Answer] depends on, the contents of files included, and
// nothing else: carried out by the same program it has the same answer on every host. [Main] is the
// process that carries tasks out, one after the other, for an agent that gives them to it on its
// standard input. It takes from them names that it looks up and numbers that it checks. It opens no
// file and no connection for them.
//
// # Guarantees
//
// A task that was handed in is answered, as long as the queue is open and an agent is there. Its
// owner keeps it until then, and gives it to another agent if the first is silent about it for the
// time of a lease. An answer is returned once, however often a task was done. The answer does not
// depend on the agent: an agent takes only tasks of the very same program, by the SHA-256 of the
// executable, and the owner of a queue learns which agents do not. A task that was begun [maxTries]
// times without an answer ends with an error that says so. Nothing is left of a queue whose owner
// has died.
//
// Clients of the agents' server can have simulations and searches done, and nothing else.
//
// # On the wire
//
// While a queue is open its owner publishes an announcement every second, which agents answer; both
// are JSON. A core that is free asks the owner for a task, and is answered as soon as there is one;
// the answer's reply subject is that of the task.
//
//	dmebench.work.announce            {queue, program, host}   → {agent, host, program, cores}
//	dmebench.work.QUEUE.next          whether to wait          → a [Task], or nothing
//	dmebench.work.QUEUE.task.K.keeps  it is being done
//	dmebench.work.QUEUE.task.K.back   the agent leaves, and has not done it
//	dmebench.work.QUEUE.task.K.failed why it could not be done
//	dmebench.work.QUEUE.task.K.answer an [Answer]              → nothing: it has arrived
package workqueue

import (
	"errors"
	"fmt"
	"os"
	"time"

	"dmebench/internal/platform/environment"
)

// maxTries is how often a task is begun at most.
const maxTries = 5

// Subjects on the server.
const (
	root          = "dmebench.work."
	announceTopic = root + "announce"
)

func nextTopic(queue string) string { return root + queue + ".next" }
func taskTopic(queue string) string { return root + queue + ".task." }

// The reports of an agent on a task, as the end of its subject.
const (
	keeps    = ".keeps"
	back     = ".back"
	failed   = ".failed"
	answered = ".answer"
)

type announcement struct {
	Queue   string              `json:"queue"`
	Program environment.Program `json:"program"` // the owner's
	Host    string              `json:"host"`    // of the owner, for people
	Over    bool                `json:"over,omitempty"`
}

// presence is an agent's answer to an announcement.
type presence struct {
	Agent    string              `json:"agent"` // tells agents apart
	Host     string              `json:"host"`  // its name, for people
	Program  environment.Program `json:"program"`
	Replaced bool                `json:"replaced,omitempty"` // and is not what its file is any more
	Cores    int                 `json:"cores"`
}

const (
	announceEvery = time.Second

	// silentAfter is how long an owner or an agent may say nothing, while the server can be
	// reached, until it is taken to be gone.
	silentAfter = 10 * time.Second

	// requestTimeout bounds the wait for an answer of the server.
	requestTimeout = 5 * time.Second

	keepEvery = 300 * time.Millisecond // between two words of an agent that a task is being done
	begun     = 2 * time.Second        // in which it has said so first
	fetchWait = 500 * time.Millisecond // for which a core waits for a task of one queue
)

// ErrUnavailable is wrapped by the error for a queue that cannot be used, or not any more:
// there is no agent, or no server.
var ErrUnavailable = errors.New("workqueue: cannot have work done by agents")

func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnavailable, fmt.Errorf(format, args...))
}

// sameBuild reports whether tasks have the same answers from two programs. Of one commit
// is not enough: on another kind of processor the last digit of a mean can be another.
func sameBuild(a, b environment.Program) bool { return a.SHA256 != "" && a.SHA256 == b.SHA256 }

// Replaced reports whether the file of this program is another one by now: a process started from
// it would be of another build. If the system cannot say, it is taken not to be.
func Replaced() bool {
	running, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	path, err := os.Executable()
	if err != nil {
		return true
	}
	file, err := os.Stat(path)
	return err != nil || !os.SameFile(running, file)
}
