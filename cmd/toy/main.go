package main

import (
	"dmebench"
	"dmebench/internal/testkit/toylock"
	"dmebench/lock"
)

func main() { dmebench.Main(dmebench.Config{Locks: []*lock.System{toylock.System()}}) }
