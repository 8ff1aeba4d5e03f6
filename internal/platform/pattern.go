package platform

import (
	"regexp"
	"sync"
)

// Pattern returns a regular expression that is compiled when it is first asked for. Dozens of them
// took a tenth of the time in which a command starts, and a run starts up to a thousand processes.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
