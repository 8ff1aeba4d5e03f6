package experiment

import (
	"bytes"
	_ "embed"
	"fmt"
)

//go:embed template.yaml
var template []byte

// Template returns an experiment file to begin with, in which every key is
// explained; file is what it is going to be called. The error says why the name
// cannot be that of a folder.
func Template(name, file string) ([]byte, error) {
	if !folder.MatchString(name) {
		return nil, fmt.Errorf("name %q becomes a folder: want letters, digits, '.', '_' and '-', at most 64, the first a letter or digit", name)
	}
	text := bytes.ReplaceAll(template, []byte("NAME"), []byte(name))
	return bytes.ReplaceAll(text, []byte("sweep FILE"), []byte("sweep "+file)), nil
}
