package coordinator

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"dmebench/internal/run"
)

const (
	bareRingCommand = "bare-ring"
	ringProcesses   = 8
	ringPairs       = 10
	ringTime        = time.Second
)

// BenchmarkRing passes one token around 8 processes through the whole runtime
// (control plane, transport, codec, host, shared counters), and around 8
// processes with nothing but a socket to their neighbour, in interleaved pairs.
// It reports the median ratio of hops per second.
func BenchmarkRing(b *testing.B) {
	trace := b.TempDir() + "/two-requests.csv"
	text := fmt.Appendf(nil, "0,1,0.000001\n%f,1,0.000001\n", ringTime.Seconds())
	if err := os.WriteFile(trace, text, 0o600); err != nil {
		b.Fatal(err)
	}
	job := resolve(b, run.Spec{
		Algorithm: "token-ring", Nodes: ringProcesses, Workload: "trace", Set: map[string]string{"file": trace},
	})
	for b.Loop() {
		var bare, whole, ratios []float64
		for range ringPairs {
			r, err := Run(b.Context(), job, Options{Files: map[string][]byte{trace: text}})
			if err != nil || r.Status != run.OK {
				b.Fatal(err, r.Error)
			}
			// The token goes round from the first request to the last, and all
			// it does is to hop.
			whole = append(whole, float64(r.Messages.Total)/ringTime.Seconds())
			bare = append(bare, bareRing(b))
			ratios = append(ratios, whole[len(whole)-1]/bare[len(bare)-1])
		}
		slices.Sort(ratios)
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(ratios[1], "ratio-low") // with ratio-high a 97.9% interval of the median of 10
		b.ReportMetric(ratios[len(ratios)-2], "ratio-high")
		b.ReportMetric(median(whole), "hops/s")
		b.ReportMetric(median(bare), "bare-hops/s")
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// bareRing measures the hops per second of a ring without a runtime.
func bareRing(b *testing.B) float64 {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var addrs []string
	var stdins []io.WriteCloser
	var outs []*bufio.Reader
	for range ringProcesses {
		cmd := exec.Command(self, bareRingCommand)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close()
		var addr string
		r := bufio.NewReader(out)
		if err := json.NewDecoder(r).Decode(&addr); err != nil {
			b.Fatal(err)
		}
		addrs, stdins, outs = append(addrs, addr), append(stdins, in), append(outs, r)
	}
	for i, in := range stdins {
		fmt.Fprintf(in, "%s %t\n", addrs[(i+1)%ringProcesses], i == 0)
	}
	var laps float64
	if _, err := fmt.Fscan(outs[0], &laps); err != nil {
		b.Fatal(err)
	}
	return laps * ringProcesses
}

// bareRingNode passes a message of 32 bytes on to its neighbour, read by read
// and write by write; the first node says how many laps it saw in a second.
func bareRingNode(stdin io.Reader, stdout io.Writer) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	if err := json.NewEncoder(stdout).Encode(l.Addr().String()); err != nil {
		return 1
	}
	var addr string
	var first bool
	if _, err := fmt.Fscan(stdin, &addr, &first); err != nil {
		return 1
	}
	next, err := net.Dial("tcp", addr) // TCP_NODELAY is Go's default
	if err != nil {
		return 1
	}
	prev, err := l.Accept()
	if err != nil {
		return 1
	}
	go func() {
		io.Copy(io.Discard, stdin)
		os.Exit(0)
	}()
	var m [32]byte
	if first {
		next.Write(m[:])
	}
	laps, warm := 0, 200
	var begin time.Time
	for {
		if _, err := io.ReadFull(prev, m[:]); err != nil {
			return 0
		}
		if first {
			switch laps++; {
			case laps == warm:
				begin = time.Now()
			case laps > warm && laps%16 == 0 && time.Since(begin) >= ringTime:
				fmt.Fprintln(stdout, float64(laps-warm)/time.Since(begin).Seconds())
			}
		}
		if _, err := next.Write(m[:]); err != nil {
			return 0
		}
	}
}
