package udp

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

func TestBuffersAreGranted(t *testing.T) {
	ts := openPair(t, Options{}, newJournal())
	receive, send := ts[0].socket.received, ts[0].socket.sent
	if receive <= 0 || send <= 0 || receive > bufferSize || send > bufferSize {
		t.Errorf("%d bytes to receive, %d to send; asked for %d", receive, send, bufferSize)
	}
	small := strings.Contains(strings.Join(ts[0].Warnings(), "\n"), "rmem_max")
	if small != (receive < bufferSize) {
		t.Errorf("%d bytes granted, warnings %q", receive, ts[0].Warnings())
	}
}

// What the kernel throws away because nobody reads is counted.
func TestKernelDropsAreReported(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is known of them here")
	}
	noLeaks(t)
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	stuck := stuckHandler{gate, make(chan struct{}, 1)}
	ts := openPair(t, Options{Layer: Raw}, stuck)
	b := make([]byte, largestRaw)
	for sent := 0; ts[1].Counters().KernelDrops == 0; sent++ {
		if sent > 4*bufferSize/largestRaw {
			t.Fatalf("%d datagrams of %d bytes have not filled the buffer", sent, len(b))
		}
		if err := ts[0].Send(1, 2, b); err != nil {
			t.Fatal(err)
		}
		ts[0].Flush()
	}
	open()
	ts[1].Close()
	if ts[1].Counters().KernelDrops == 0 {
		t.Error("forgotten at Close")
	}
}

// Frames to one process travel together.
func TestFramesArePacked(t *testing.T) {
	for _, l := range Layers() {
		for _, size := range []int{0, 512, networkDatagram} {
			t.Run(fmt.Sprintf("%s-%d", l, size), func(t *testing.T) {
				const frames, body = 200, 20
				j := newJournal()
				ts := openPair(t, Options{Layer: l, datagram: size}, j)
				if l != Raw { // so that the link is there
					if err := ts[0].Send(1, 2, nil); err != nil {
						t.Fatal(err)
					}
					ts[0].Flush()
					j.wait(t, "the first frame", func() bool { return len(j.frames) == 1 })
				}
				before := ts[0].Counters()
				for range frames {
					if err := ts[0].Send(1, 2, make([]byte, body)); err != nil {
						t.Fatal(err)
					}
				}
				ts[0].Flush()
				if l != Raw {
					j.wait(t, "all frames", func() bool { return len(j.frames) == 1+frames })
				}
				c := ts[0].Counters().Minus(before)
				if size == 0 {
					size = loopbackDatagram
				}
				datagrams := 1 + frames*(body+3)/(size-overhead-segmentRoom-16)
				// Bytes tell how many datagrams there were; a segment may have
				// been sent again.
				if most := uint64(frames*(body+3) + (datagrams+1)*(overhead+segmentRoom)); c.Retransmissions == 0 && c.Bytes > most {
					t.Errorf("%d bytes for %d frames of %d in datagrams of %d, expected at most %d", c.Bytes, frames, body, size, most)
				}
				if c.Frames != frames {
					t.Errorf("%d frames by the counters", c.Frames)
				}
			})
		}
	}
}

func TestIPv6(t *testing.T) {
	probe, err := net.ListenPacket("udp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	probe.Close()
	noLeaks(t)
	j := newJournal()
	key := transporttest.NewKey()
	var ts [2]*Transport
	var book transport.AddressBook
	for i, at := range []string{"[::1]:0", "[::]:0"} { // the second one takes IPv4 too
		ts[i], err = listen(transport.Config{Listen: at, Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: key},
			Options{}, patient(transporttest.Knobs{}))
		if err != nil {
			t.Fatal(err)
		}
		defer ts[i].Close()
		book = append(book, ts[i].Addr())
	}
	for _, tr := range ts {
		if err := tr.Start(book, j); err != nil {
			t.Fatal(err)
		}
	}
	for i, tr := range ts {
		if err := tr.Send(dme.NodeID(i+1), dme.NodeID(2-i), []byte("x")); err != nil {
			t.Fatal(err)
		}
		tr.Flush()
	}
	j.wait(t, "both frames", func() bool { return len(j.frames) == 2 })
}
