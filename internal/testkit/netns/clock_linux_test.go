package netns

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic answers each line with the monotonic clock.
func monotonic() error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(now())
	}
	return in.Err()
}

func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

func TestClocksAreOff(t *testing.T) {
	want := []time.Duration{0, 50 * time.Millisecond, -1234567890, time.Hour}
	bed := New(t, len(want), ClockAhead(2, want[1]), ClockAhead(3, want[2]), ClockAhead(4, want[3]))
	for i, h := range bed.Hosts {
		in, replies := h.Self("monotonic")
		out := bufio.NewReader(replies)
		// The host's clock is read between two readings of this one: that bounds how
		// far it is ahead. A busy machine bounds it badly; then once more.
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		for most-least > int64(time.Millisecond) {
			before := now()
			fmt.Fprintln(in)
			there, err := strconv.ParseInt(line(t, out), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			least, most = max(least, there-now()), min(most, there-before)
		}
		if int64(want[i]) < least || int64(want[i]) > most {
			t.Errorf("%s: %v to %v ahead, want %v", h.Name, time.Duration(least), time.Duration(most), want[i])
		}
	}
}
