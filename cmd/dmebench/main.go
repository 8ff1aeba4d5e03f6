// Command dmebench runs distributed mutual exclusion algorithms as real
// processes over real networks, measures them, and says whether the papers'
// claims hold. 'dmebench help' lists its sub-commands.
package main

import (
	"os"

	"dmebench"
)

func main() { os.Exit(dmebench.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, dmebench.Config{})) }
