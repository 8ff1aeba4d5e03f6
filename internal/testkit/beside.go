package testkit

import (
	"flag"
	"fmt"
	"runtime"
)

// Beside lets n parallel tests of this package run at a time, unless -parallel says otherwise. It
// is for tests that mostly wait, whatever the number of processors. TestMain calls it.
func Beside(n int) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		_ = p.Value.Set(fmt.Sprint(n))
	}
}
