package manifests_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	block   = regexp.MustCompile("(?ms)^```.*?^```")
	command = regexp.MustCompile(`(?m)^\$?[^#\n]*?\./dmebench ([^&\n]*)`)
)

// What people are told to type is what the program takes.
func TestPageArguments(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "testbed.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, b := range block.FindAllString(string(page), -1) {
		for _, m := range command.FindAllStringSubmatch(b, -1) {
			args := strings.Fields(strings.ReplaceAll(m[1], "$secrets", "--creds creds"))
			found[args[0]] = true
			if why := refusal(t, args); why != "" {
				t.Errorf("the program refuses %q:\n%s", args, why)
			}
		}
	}
	for _, name := range []string{"broker", "agent", "sweep", "run", "doctor", "check"} {
		if !found[name] {
			t.Errorf("%s is not among the commands that were found", name)
		}
	}
}
