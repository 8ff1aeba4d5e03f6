// Command own-algorithm is dmebench with one more algorithm.
package main

import (
	"dmebench"
	"dmebench/dme"

	"example.org/own-algorithm/courier"
)

func main() { dmebench.Main(dmebench.Config{Algorithms: []*dme.Algorithm{courier.Algorithm()}}) }
