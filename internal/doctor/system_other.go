//go:build !linux

package doctor

// What follows is known on Linux only.

func (r *clockReading) keptBy(string) {}

func readSource() sourceReading { return sourceReading{cost: readingCost()} }

func online(string) int { return 0 }

func frequency(string) (governor, boost string) { return "", "" }

func virtual(string) bool { return false }

// ticks are times of the processors of a host.
type ticks struct{ busy, stolen, all uint64 }

func readTicks(string) (t ticks, ok bool) { return t, false }

func swapped(string) uint64 { return 0 }

func readPorts(string) portReading { return portReading{} }

func fileSystem(string) (free uint64, kind string, known bool) { return 0, "", false }
