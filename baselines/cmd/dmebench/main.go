// Command dmebench is dmebench with lock services beside the algorithms.
package main

import (
	"dmebench"

	"dmebench/baselines/systems"
)

func main() { dmebench.Main(systems.Config()) }
