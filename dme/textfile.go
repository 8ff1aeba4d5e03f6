package dme

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Line is a line of a file that an option names.
type Line struct {
	Number int    // from 1
	Text   string // without what follows a #
}

// ReadLines reads the lines of a file that are not blank, by a function like
// [Config.ReadFile], which may be nil.
func ReadLines(read func(name string) ([]byte, error), name string) ([]Line, error) {
	if read == nil {
		return nil, errors.New("no file can be read here; choose a value that names none")
	}
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	var lines []Line
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, Line{number, line})
		}
	}
	return lines, nil
}

// ParseNode reads the number of one of n nodes.
func ParseNode(word string, n int) (NodeID, error) {
	id, err := strconv.ParseUint(word, 10, 32)
	if err != nil || id < 1 || id > uint64(n) {
		return None, fmt.Errorf("%q is not a node; there are the nodes 1 to %d", word, n)
	}
	return NodeID(id), nil
}
