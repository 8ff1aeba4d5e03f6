// Package workqueue has tasks carried out by the agents of other hosts: cells of simulated
// sweeps, ranges of random schedules, simulations for claims.
//
// [Open] makes a queue, a JetStream stream of its own on the NATS server of the agents, and
// [Queue.Do] has one task done and returns its answer. [Serve] takes tasks of all the
// queues of a server, as many at a time as it is given cores, each in a process of its
// own.
//
// A [Task] says everything that its [Answer] depends on, the contents of files included,
// and nothing else: carried out by the same program it has the same answer on every host.
// [Main] is the process that carries tasks out, one after the other, for an agent that
// gives them to it on its standard input. It takes from them names that it looks up and
// numbers that it checks. It opens no file and no connection for them.
//
// # Guarantees
//
// A task that was handed in is answered, as long as the queue is open and an agent is
// there: it is acknowledged only after its answer is stored, so that what a dead agent had
// begun goes to another. An answer is returned once, however often a task was done. Who
// does a task makes no difference to its answer: an agent takes only tasks of the very
// same program, by the SHA-256 of the executable, and those who hand in learn which agents
// do not. A task that was given out [maxDeliver] times without an answer ends with an error
// that says so. Whatever waits is bounded, and a queue whose owner has died is removed by
// the agents.
//
// Whoever may use the agents' server may have simulations and searches done, and nothing
// else.
//
// # On the wire
//
// While a queue is open its owner publishes an announcement every second, which agents
// answer; both are JSON. Tasks and answers are messages of the stream:
//
//	dmebench.work.announce       {queue, program, host}        → {agent, host, program, cores}
//	dmebench.work.QUEUE.task.K   a [Task]
//	dmebench.work.QUEUE.answer.K a [Answer]
package workqueue

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"dmebench/internal/platform/environment"
)

// maxDeliver is how often a task is given out at most.
const maxDeliver = 5

// Subjects and names on the server.
const (
	root          = "dmebench.work."
	announceTopic = root + "announce"
	streamPrefix  = "dmebench-work-"
	takers        = "agents" // the consumer of tasks
	owner         = "owner"  // the consumer of answers
)

func streamOf(queue string) string    { return streamPrefix + queue }
func taskTopic(queue string) string   { return root + queue + ".task." }
func answerTopic(queue string) string { return root + queue + ".answer." }

// lastToken is the part of a subject that tells tasks apart.
func lastToken(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// announcement says that a queue is open.
type announcement struct {
	Queue   string              `json:"queue"`
	Program environment.Program `json:"program"`         // the owner's
	Host    string              `json:"host"`            // of the owner, for people
	Ready   bool                `json:"ready,omitempty"` // the stream is there
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

	// goneAfter is how long an owner may say nothing until his queue is removed. His host
	// may have slept.
	goneAfter = 10 * time.Minute

	// requestTimeout bounds the wait for an answer of the server.
	requestTimeout = 5 * time.Second
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

// Replaced reports whether the file of this program is another one by now: a process
// that is started from it would be of another build. Where the system does not tell, it
// is taken not to be.
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
