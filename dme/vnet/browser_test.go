package vnet

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A page in a browser runs the network: nothing below it may need more than
// that gives.
func TestBuildsForTheBrowser(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to ask")
	}
	list, err := exec.Command(tool, "list", "-deps", "-f", "{{if .Module}}{{.ImportPath}} {{join .Imports \" \"}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		packages++
		for _, imported := range words[1:] {
			if slices.Contains([]string{"net", "os", "testing"}, imported) || strings.HasPrefix(imported, "net/") ||
				strings.HasPrefix(imported, "os/") {
				t.Errorf("%s imports %s", words[0], imported)
			}
		}
	}
	if packages < 2 {
		t.Errorf("%d packages in\n%s", packages, list)
	}
	if testing.Short() {
		return
	}
	build := exec.Command(tool, "build", "-o", os.DevNull, ".", "../../algorithms/ricartagrawala", "../../algorithms/maekawa")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if output, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
