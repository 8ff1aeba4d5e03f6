package nats

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"
)

// A server cannot tell the run's processes from strangers before they show its token.
// So it takes many more connections than the run needs, hangs up on those that
// do not show the token soon, and the run's processes try again where strangers have
// taken all places.
const (
	// authTimeout is how long a connection may take to show the token.
	authTimeout = 2 * time.Second

	// mostStrangers is how many connections without the token a server holds at
	// most: some tens of kilobytes each, for authTimeout.
	mostStrangers = 4096

	// strangersShare is the share of this process's descriptors that may be taken
	// by strangers: one in so many.
	strangersShare = 4

	// admissionPause is how long a process waits before it tries again.
	admissionPause = 50 * time.Millisecond
)

// strangers returns how many connections beside the run's own a server takes here.
func strangers() int {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return mostStrangers
	}
	return int(min(uint64(r.Cur)/strangersShare, mostStrangers))
}

// Admit connects to a server of the run's own: it calls connect, and calls it again
// where the server had no place or hung up before the connection was made, for about ten
// seconds at most. The error is that of the last attempt.
func Admit(connect func() (*natsgo.Conn, error)) (*natsgo.Conn, error) {
	for deadline := time.Now().Add(connectTimeout); ; {
		c, err := connect()
		if err == nil || !crowded(err) || time.Now().After(deadline) {
			return c, err
		}
		time.Sleep(admissionPause)
	}
}

// crowded reports whether another attempt may succeed: the server is there, and had no
// place, or this process was too slow for it. That it hung up can be seen before
// its reason is read.
func crowded(err error) bool {
	return full(err) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		says(err, "authentication timeout")
}

// full reports whether a server has no place for a connection.
func full(err error) bool {
	return errors.Is(err, natsgo.ErrMaxConnectionsExceeded) || says(err, natsgo.MAX_CONNECTIONS_ERR)
}

// says reports whether a server has refused a connection for that reason: while a
// connection is made, the library hands its words on and has no value for them.
func says(err error, reason string) bool {
	return strings.HasSuffix(strings.ToLower(err.Error()), reason)
}
