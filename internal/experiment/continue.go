package experiment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"dmebench/internal/exit"
	"dmebench/result"
)

// Continue opens the store in dir to go on with it. Where there is none of the
// same plan, or with fresh, it begins one in its place. Until release is called
// nobody else does.
func Continue(dir string, h result.Header, fresh bool) (store *result.Store, release func(), err error) {
	unlock, err := lock(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	path := filepath.Join(dir, result.StoreName)
	if !fresh {
		store, err = result.OpenStore(path)
		switch {
		case err == nil && store.Header.Plan == h.Plan:
			return store, closing(store, unlock), nil
		case err == nil:
			store.Close()
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, result.ErrNoHeader):
			return nil, nil, refuse(exit.Data, "%w", err)
		}
	}
	if err = os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		store, err = result.CreateStore(path, h)
	}
	if err != nil {
		return nil, nil, unwritable(dir, err)
	}
	return store, closing(store, unlock), nil
}

func closing(store *result.Store, unlock func()) func() {
	return func() {
		store.Close()
		unlock()
	}
}
