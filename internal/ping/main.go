package ping

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"dmebench/internal/exit"

	"golang.org/x/sys/unix"
)

// Main is a process of a measurement. It does what it is asked until its
// standard input ends: that is how it is told to go, and how it learns that
// whoever has started it is gone.
func Main(stdin io.Reader, stdout, stderr io.Writer) int {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var o order
	if err := in.Decode(&o); err != nil || o.check() != nil {
		fmt.Fprintln(stderr, errNoOrder)
		return exit.Usage
	}
	p, err := newPeer(&o)
	if err == nil {
		defer p.end.close()
		err = p.join(in, out)
	}
	if err == nil {
		err = p.serve(in, out)
	}
	if err != nil {
		fmt.Fprintf(stderr, "ping: process %d: %v\n", o.Index, err)
		return exit.Unknown
	}
	return exit.Held
}

// join makes the process known to the others and connects it to them.
func (p *peer) join(in *json.Decoder, out *json.Encoder) error {
	if err := out.Encode(greeting{p.end.address(), runtime.GOMAXPROCS(0)}); err != nil {
		return err
	}
	var book []string
	switch err := in.Decode(&book); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case len(book) != p.order.Processes:
		return fmt.Errorf("%d addresses of %d processes", len(book), p.order.Processes)
	}
	if err := p.end.start(book, p.order.peers()); err != nil {
		return err
	}
	return out.Encode(ready)
}

// serve answers questions until there are no more, also while a measurement is
// under way.
func (p *peer) serve(in *json.Decoder, out *json.Encoder) error {
	questions := make(chan question)
	go func() {
		defer close(questions)
		for {
			var q question
			if in.Decode(&q) != nil {
				return
			}
			questions <- q
		}
	}()
	for {
		select {
		case q, more := <-questions:
			if !more {
				return nil
			}
			go func() {
				if err := out.Encode(p.answer(q)); err != nil {
					p.fail(err)
				}
			}()
		case err := <-p.failed:
			return err
		}
	}
}

func (p *peer) answer(q question) answer {
	if q.Task == nil {
		return answer{CPUSeconds: processorTime()}
	}
	v, err := p.measure(q.Task)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Values: v}
}

// processorTime returns the processor time that this process has used, in
// seconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("ping: getrusage: " + err.Error()) // it cannot fail for the calling process
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
