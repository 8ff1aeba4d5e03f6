// Command own-algorithm is dmebench with one more algorithm.
package main

import (
	"dmebench"

	"example.org/own-algorithm/courier"
)

func main() { dmebench.Main(courier.Algorithm()) }
