package launch

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// tail is an io.Writer that keeps the beginning and the end of what is written,
// and no more: a panic says what it is in its first line, a log in its last.
type tail struct {
	mu      sync.Mutex
	head    []byte
	end     []byte
	skipped int
}

const (
	headBytes = 2 << 10
	endBytes  = 4 << 10
)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if room := headBytes - len(t.head); room > 0 {
		k := min(room, len(b))
		t.head = append(t.head, b[:k]...)
		b = b[k:]
	}
	t.end = append(t.end, b...)
	if over := len(t.end) - endBytes; over > 0 {
		t.skipped += over
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return n, nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.Clone(t.head)
	if t.skipped > 0 {
		text = fmt.Appendf(text, "\n… %d bytes left out …\n", t.skipped)
	}
	text = append(text, t.end...)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}
