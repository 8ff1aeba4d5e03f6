// Package transporttest is the conformance suite of transports, tested on the real thing over
// the loopback network.
//
// A transport's test package describes it with a [Subject] and has two lines:
//
//	func TestMain(m *testing.M)        { os.Exit(transporttest.Main(m, subject)) }
//	func TestConformance(t *testing.T) { transporttest.Run(t, subject) }
//
// Main is needed because some tests run peers as processes of their own, to kill them. Parts
// that ask for what a subject does not promise are skipped.
package transporttest

import (
	"cmp"
	"net"
	"slices"
	"testing"
	"time"

	"dmebench/transport"
)

const patience = 30 * time.Second

type Opener func(transport.Config, Knobs) (transport.Transport, error)

// Knobs are what tests turn to reach a bound sooner. Zero means the default.
type Knobs struct {
	Backlog int           // bytes queued on a link, instead of transport.MaxBacklog
	Silence time.Duration // after which a process that does not answer is taken for dead
	Drain   time.Duration // Close's patience with processes that take nothing
}

// Subject is a transport under test.
type Subject struct {
	Name       string
	Guarantees transport.Guarantees
	Open       Opener

	// LargestFrame is in bytes; 0 means transport.MaxFrame.
	LargestFrame int

	// NoticesDeath says that a killed peer is reported by Handler.Down.
	NoticesDeath bool

	// AllocatesNothing says that a frame is sent and delivered without an allocation,
	// once buffers have grown.
	AllocatesNothing bool

	// InProcess says that the transport joins what one process has opened; to close it is to
	// kill it.
	InProcess bool

	// Connectionless says that a process goes on sending to one that has lost
	// sight of it.
	Connectionless bool

	// Remote opens transports in processes of their own, which get Reach; nil: as Open.
	Remote func(reach string) Opener
	Reach  string

	// Patience is how long a test waits for what must come; 0 means half a minute.
	Patience time.Duration

	// Parts names the parts of the suite that are run; nil means all.
	Parts []string

	// Stranger opens a raw connection to a transport's address; nil if strangers cannot get that
	// far.
	Stranger func(addr string) (net.Conn, error)
}

func Run(t *testing.T, s Subject) {
	s.LargestFrame, s.Patience = cmp.Or(s.LargestFrame, transport.MaxFrame), cmp.Or(s.Patience, patience)
	for _, c := range []struct {
		name    string
		skipped string // why; "" if it applies
		test    func(*testing.T, Subject)
	}{
		{"Burst", "", testBurst},
		{"SelfSend", "", testSelfSend},
		{"FirstUse", "", testFirstUse},
		{"LargeFrames", "", testLargeFrames},
		{"Broadcast", unless(s.Guarantees.Broadcast, "able to broadcast"), testBroadcast},
		{"RepliesFromHandler", unless(s.Guarantees.Reliable, "reliable"), testReplies},
		{"ManyGoroutines", unless(s.Guarantees.Reliable, "reliable"), testManyGoroutines},
		{"SlowReader", unless(s.Guarantees.Reliable, "reliable"), testSlowReader},
		{"FloodBothWays", unless(s.Guarantees.Reliable, "reliable"), testFloodBothWays},
		{"CloseIsBounded", unless(s.Guarantees.Reliable, "reliable"), testCloseIsBounded},
		{"CloseDrains", unless(s.Guarantees.Reliable, "reliable"), testCloseDrains},
		{"SilenceAfterClose", "", testSilenceAfterClose},
		{"LeavingIsNotDeath", "", testLeaving},
		{"Misuse", "", testMisuse},
		{"Misconfiguration", "", testMisconfiguration},
		{"Allocations", unless(s.AllocatesNothing, "free of allocations"), testAllocations},
		{"WrongKey", "", testWrongKey},
		{"Garbage", unless(s.Stranger != nil, "reachable by strangers"), testGarbage},
		{"SilentStrangers", unless(s.Stranger != nil, "reachable by strangers"), testSilentStrangers},
		{"Restart", "", testRestart},
		{"Death", unless(s.NoticesDeath, "able to notice death"), testDeath},
	} {
		if s.Parts != nil && !slices.Contains(s.Parts, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.skipped != "" {
				t.Skip(c.skipped)
			}
			NoLeaks(t)
			c.test(t, s)
		})
	}
}

func unless(ok bool, what string) string {
	if ok {
		return ""
	}
	return "the transport is not " + what
}
