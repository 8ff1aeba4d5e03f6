// Command dmebench is dmebench with lock services beside the algorithms.
package main

import "dmebench/baselines/systems"

func main() { systems.Main() }
