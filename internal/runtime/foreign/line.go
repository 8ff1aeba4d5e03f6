package foreign

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dmebench/dme"
)

const MaxLine = 1 << 20

// The messages between a node and its client.
const (
	typeInit     = "init"
	typeInitOK   = "init_ok"
	typeRequest  = "request"
	typeEntered  = "entered"
	typeRelease  = "release"
	typeReleased = "released"
	typeStop     = "stop"
	typeError    = "error"
)

type envelope struct {
	Src  string          `json:"src"`
	Dest string          `json:"dest"`
	Body json.RawMessage `json:"body"`
}

type answer struct {
	Type      string `json:"type"`
	InReplyTo *int64 `json:"in_reply_to"`
	Clock     uint64 `json:"clock"`
	Stop      bool   `json:"stop"`
	Code      int    `json:"code"`
	Text      string `json:"text"`
}

type call struct {
	Type    string   `json:"type"`
	ID      int64    `json:"msg_id"`
	NodeID  string   `json:"node_id,omitempty"`
	NodeIDs []string `json:"node_ids,omitempty"`
}

func nodeName(id dme.NodeID) string   { return "n" + id.String() }
func clientName(id dme.NodeID) string { return "c" + id.String() }

func nodeNumber(name string, n int) (dme.NodeID, bool) {
	digits, ok := strings.CutPrefix(name, "n")
	id, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || id < 1 || id > uint64(n) || nodeName(dme.NodeID(id)) != name {
		return 0, false
	}
	return dme.NodeID(id), true
}

func parse(line []byte) (e envelope, err error) {
	err = json.Unmarshal(line, &e)
	switch {
	case err != nil:
		return e, fmt.Errorf("writes a line that is not a message in JSON (%w)", err)
	case e.Dest == "":
		return e, errors.New(`writes a line that has no "dest"`)
	case !bytes.HasPrefix(e.Body, []byte("{")):
		return e, errors.New(`writes a line whose "body" is missing or not an object`)
	}
	return e, nil
}

func typeOf(body []byte) string {
	var b struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(body, &b) // never fails: checked to be JSON; the type may be anything
	return tidy(b.Type)
}

// maxType is how much of a type messages are counted by, in bytes.
const maxType = 40

func tidy(kind string) string { return shown(cmp.Or(kind, "(no type)"), maxType) }

// excerptBytes is how much of a line an error shows.
const excerptBytes = 200

func excerpt(line []byte) string {
	return shown(string(line[:min(len(line), 4*excerptBytes)]), excerptBytes)
}

// shown returns the beginning of a text, fit to be shown.
func shown(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '.'
		}
		return r
	}, text)
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func appendLine(b []byte, src, dest string, body []byte) []byte {
	b = append(b, `{"src":"`...)
	b = append(b, src...)
	b = append(b, `","dest":"`...)
	b = append(b, dest...)
	b = append(b, `","body":`...)
	b = append(b, body...)
	return append(b, "}\n"...)
}

// AppendFrame appends the form in which a message travels between processes: a
// byte that is not zero, the length of its kind, the kind, and its body.
func AppendFrame(b []byte, kind string, body []byte) []byte {
	b = append(b, 1, byte(len(kind)))
	b = append(b, kind...)
	return append(b, body...)
}

func ReadFrame(frame []byte) (kind, body []byte, err error) {
	if len(frame) < 2 || frame[0] != 1 || len(frame) < 2+int(frame[1]) {
		return nil, nil, errors.New("foreign: malformed message")
	}
	end := 2 + int(frame[1])
	return frame[2:end], frame[end:], nil
}

// Split divides a command into words as a shell does, and expands nothing.
func Split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside := false // a word, which may be empty between quotes
	var quote rune  // the one that is open
	escaped := false
	for _, r := range command {
		switch {
		case r == 0:
			return nil, errors.New("holds a zero byte")
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case quote == '\'' && r != quote:
			word.WriteRune(r)
		case r == '\\':
			escaped, inside = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	}
	if inside {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}

// Pack puts the body of a message into one of the form that recordings keep: eight
// bytes in each element of its vector, the last padded with zeros.
func Pack(body []byte) *dme.Message {
	m := &dme.Message{Kind: 1, Num: uint64(len(body)), Vec: make([]uint64, (len(body)+7)/8)}
	for i := range m.Vec {
		var b [8]byte
		copy(b[:], body[8*i:])
		m.Vec[i] = binary.LittleEndian.Uint64(b[:])
	}
	return m
}

// Describe returns the kind of a message that was packed, and the rest of its body as
// a person reads it: number=7 list=[1,2].
func Describe(m *dme.Message) (kind, rest string) {
	b := make([]byte, 0, 8*len(m.Vec))
	for _, x := range m.Vec {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	b = b[:min(m.Num, uint64(len(b)))]
	return typeOf(b), excerpt(pairs(b))
}

func pairs(body []byte) (text []byte) {
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() // the bracket
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return text
		}
		if key == "type" {
			continue
		}
		if text != nil {
			text = append(text, ' ')
		}
		text = fmt.Appendf(text, "%s=", key)
		compact := bytes.NewBuffer(text)
		_ = json.Compact(compact, value) // never fails: just decoded
		text = compact.Bytes()
	}
	return text
}
