//go:build !linux

package witness

import "os"

// anonymous returns a file of the given size without a name.
func anonymous(size int) (*os.File, error) {
	f, err := os.CreateTemp("", "dmebench-page-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err == nil {
		err = f.Truncate(int64(size))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
