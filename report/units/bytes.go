package units

import "fmt"

// Bytes writes a number of bytes with three significant digits: "1.23 GB".
func Bytes(n uint64) string {
	names := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	x, i := float64(n), 0
	for x >= 1000 && i+1 < len(names) {
		x, i = x/1000, i+1
	}
	if i == 0 {
		return fmt.Sprint(n, " ", names[i])
	}
	return fmt.Sprintf("%.3g %s", x, names[i])
}
