package peers

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"dmebench/dme"
	"dmebench/transport"
)

type sent struct {
	from, to dme.NodeID
	body     []byte
}

func someFrames(r *rand.Rand, n int) (frames []sent, wire []byte) {
	nodes := []dme.NodeID{0, 1, 127, 128, 1000, 1<<32 - 1}
	for range n {
		body := make([]byte, []int{0, 1, 20, 127, 128, 3000, 70_000}[r.IntN(7)])
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		f := sent{nodes[r.IntN(len(nodes))], nodes[r.IntN(len(nodes))], body}
		frames = append(frames, f)
		wire = AppendFrame(wire, f.from, f.to, f.body)
	}
	return frames, wire
}

func TestStreamReturnsWhatWasAppended(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"whole":       func(r io.Reader) io.Reader { return r },
		"by the byte": iotest.OneByteReader,
		"by halves":   iotest.HalfReader,
		"data + EOF":  iotest.DataErrReader,
	}
	for name, wrap := range readers {
		t.Run(name, func(t *testing.T) {
			want, wire := someFrames(rand.New(rand.NewPCG(1, 2)), 60)
			s := NewStream(wrap(bytes.NewReader(wire)))
			var f Frame
			for i := 0; i < len(want); {
				ok, err := s.Next(&f)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if err := s.Fill(); err != nil {
						t.Fatalf("after %d of %d frames: %v", i, len(want), err)
					}
					continue
				}
				if w := want[i]; f.From != w.from || f.To != w.to || !bytes.Equal(f.Body, w.body) {
					t.Fatalf("frame %d: %d to %d, %d bytes; want %d to %d, %d bytes",
						i, f.From, f.To, len(f.Body), w.from, w.to, len(w.body))
				}
				i++
			}
			if err := s.Fill(); err != io.EOF || s.Buffered() != 0 {
				t.Errorf("at the end: %v with %d bytes left", err, s.Buffered())
			}
		})
	}
}

func TestLargestFrame(t *testing.T) {
	body := bytes.Repeat([]byte("x"), transport.MaxFrame)
	wire := AppendFrame(nil, 1<<32-1, 1<<32-1, body)
	if len(wire) != MaxHeader+len(body) {
		t.Fatalf("%d bytes, want %d", len(wire), MaxHeader+len(body))
	}
	s := NewStream(bytes.NewReader(wire))
	var f Frame
	for {
		ok, err := s.Next(&f)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			break
		}
		if err := s.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(f.Body, body) {
		t.Error("the body differs")
	}
	// The large buffer is not kept.
	if err := s.Fill(); err != io.EOF {
		t.Fatal(err)
	}
	if len(s.buf) > keptBuffer {
		t.Errorf("an empty stream keeps %d bytes", len(s.buf))
	}
}

func TestMalformed(t *testing.T) {
	tooLarge := AppendFrame(nil, 1, 2, make([]byte, transport.MaxFrame+1))
	for name, c := range map[string]struct {
		wire []byte
		want error
	}{
		"long form of a short length":   {[]byte{0x80, 0x00, 1, 2}, ErrMalformed},
		"long form of a short sender":   {[]byte{0, 0x81, 0x00, 2}, ErrMalformed},
		"long form of a short receiver": {[]byte{0, 1, 0x81, 0x80, 0x00}, ErrMalformed},
		"endless length":                {[]byte{0xff, 0xff, 0xff, 0xff}, ErrMalformed},
		"endless node":                  {[]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff}, ErrMalformed},
		"node beyond 32 bits":           {[]byte{0, 0xff, 0xff, 0xff, 0xff, 0x1f, 1}, ErrMalformed},
		"too large, only announced":     {tooLarge[:4], transport.ErrFrameTooLarge},
		"too large, all there":          {tooLarge, transport.ErrFrameTooLarge},
	} {
		var f Frame
		if n, err := DecodeFrame(c.wire, &f); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d, %v; want %v", name, n, err, c.want)
		}
	}
}

func TestGoodbyeIsTheEmptyFrameOfNobody(t *testing.T) {
	if got := AppendFrame(nil, 0, 0, nil); string(got) != Goodbye {
		t.Errorf("%x", got)
	}
	for _, f := range []Frame{{From: 1}, {To: 1}, {Body: []byte{0}}} {
		if f.IsGoodbye() {
			t.Errorf("%v is a goodbye", f)
		}
	}
}

// FuzzFrame feeds a Stream whatever there is, in pieces of any size: it must
// find exactly the frames that Decode finds in the whole, each of which
// encodes to the bytes it came from, and hold no more than it was given.
func FuzzFrame(f *testing.F) {
	f.Add(AppendFrame(AppendFrame(nil, 1, 2, []byte("one")), 3, 4, make([]byte, 200)), uint16(7))
	f.Add([]byte(Goodbye), uint16(1))
	f.Add(AppendFrame(nil, 300, 2, []byte("hello"))[:6], uint16(2))
	f.Add([]byte{0xff, 0xff, 0xff, 0x03, 1, 2}, uint16(3))
	f.Fuzz(func(t *testing.T, wire []byte, piece uint16) {
		var want Frame
		rest := slices.Clone(wire)
		s := NewStream(&inPieces{bytes.NewReader(wire), int(piece) + 1})
		var got Frame
		for {
			ok, err := s.Next(&got)
			if !ok && err == nil {
				if cap(s.buf) > smallBuffer+2*busyBuffer+4*len(wire) {
					t.Fatalf("a buffer of %d bytes for %d bytes of input", cap(s.buf), len(wire))
				}
				if s.Fill() == nil {
					continue
				}
			}
			n, wantErr := DecodeFrame(rest, &want)
			if err != nil {
				if wantErr == nil && n > 0 {
					t.Fatalf("stream: %v; whole: a frame of %d bytes", err, n)
				}
				return
			}
			if wantErr != nil {
				// What is malformed in the whole must be so in the stream.
				t.Fatalf("whole: %v; stream: nothing", wantErr)
			}
			if !ok {
				if n != 0 {
					t.Fatalf("whole: a frame of %d bytes; stream: nothing", n)
				}
				return
			}
			if n == 0 || got.From != want.From || got.To != want.To || !bytes.Equal(got.Body, want.Body) {
				t.Fatalf("stream: %v; whole: %v, %d", got, want, n)
			}
			if again := AppendFrame(nil, got.From, got.To, got.Body); !bytes.Equal(again, rest[:n]) {
				t.Fatalf("%x decodes and encodes to %x", rest[:n], again)
			}
			rest = rest[n:]
		}
	})
}

type inPieces struct {
	r io.Reader
	n int
}

func (p *inPieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }
