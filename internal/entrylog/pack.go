package entrylog

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// maxPacked bounds the entries that are kept of a run on the disk.
const maxPacked = 1 << 20

// packVersion is that of packed entries.
const packVersion = 1

// packHeader is the first line of packed entries.
type packHeader struct {
	SchemaVersion int    `json:"schema_version"`
	Entries       int    `json:"entries"`
	Dropped       uint64 `json:"dropped"` // that are not among them
}

// Pack returns entries in the form in which they are kept on the disk: compressed,
// in the order in which they began, their times counted from start. It keeps the
// first million or so. dropped is how many entries of the run there are beside these.
func Pack(entries []Entry, start int64, dropped uint64) ([]byte, error) {
	entries = slices.Clone(entries)
	for i := range entries {
		for _, at := range entries[i].times() {
			*at -= start
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Entered, b.Entered), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Node, b.Node))
	})
	if more := len(entries) - maxPacked; more > 0 {
		entries, dropped = entries[:maxPacked], dropped+uint64(more)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	err := json.NewEncoder(z).Encode(packHeader{packVersion, len(entries), dropped})
	for chunk := range slices.Chunk(entries, ChunkEntries) {
		b := Append(nil, chunk)
		_, sizeErr := z.Write(binary.AppendUvarint(nil, uint64(len(b))))
		_, chunkErr := z.Write(b)
		err = errors.Join(err, sizeErr, chunkErr)
	}
	err = errors.Join(err, z.Close()) // which writes the end
	return out.Bytes(), err
}

// maxChunk bounds a chunk that is read, in bytes: what ChunkEntries take at most.
const maxChunk = ChunkEntries * 90

// Unpack reads packed entries as they are asked for, a chunk at a time. It returns
// how many entries of the run are not among them.
func Unpack(r io.Reader) (dropped uint64, entries iter.Seq2[Entry, error], err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return 0, nil, fmt.Errorf("not packed entries: %w", err)
	}
	in := bufio.NewReader(z)
	line, err := in.ReadSlice('\n')
	var h packHeader
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("not packed entries: %w", err)
	case h.SchemaVersion != packVersion:
		return 0, nil, fmt.Errorf("packed entries of version %d; this program reads version %d", h.SchemaVersion, packVersion)
	}
	return h.Dropped, func(yield func(Entry, error) bool) {
		var chunk []Entry
		var b []byte
		for count := 0; count < h.Entries; {
			size, err := binary.ReadUvarint(in)
			if err == nil && size > maxChunk {
				err = errMalformed
			}
			if err == nil {
				b = slices.Grow(b[:0], int(size))[:size]
				_, err = io.ReadFull(in, b)
			}
			if err == nil {
				chunk, err = Decode(chunk[:0], b)
			}
			if err == nil && len(chunk) == 0 {
				err = errMalformed
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("after %d of %d entries: %w", count, h.Entries, err))
				return
			}
			for _, e := range chunk {
				if !yield(e, nil) {
					return
				}
			}
			count += len(chunk)
		}
	}, nil
}
