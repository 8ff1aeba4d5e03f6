package foreign

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"dmebench/dme"
)

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
// a person reads it, cut short where it is long: number=7 list=[1,2].
func Describe(m *dme.Message) (kind, rest string) {
	b := make([]byte, 0, 8*len(m.Vec))
	for _, x := range m.Vec {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	b = b[:min(m.Num, uint64(len(b)))]
	return typeOf(b), excerpt(pairs(b))
}

// pairs writes the keys of a body and their values, but for its type.
func pairs(body []byte) (text []byte) {
	d := json.NewDecoder(bytes.NewReader(body))
	if _, err := d.Token(); err != nil { // the bracket
		return nil
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
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
		_ = json.Compact(compact, value) // it has just been decoded
		text = compact.Bytes()
	}
	return text
}
