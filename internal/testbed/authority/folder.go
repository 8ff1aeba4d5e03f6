package authority

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/atomicfile"
	"dmebench/internal/platform/input"
)

// Names of the files in a folder. The keys and the token are secrets.
const (
	CAFile        = "ca.pem"     // whom agents are to trust
	TokenFile     = "token"      // what lets them in
	caKeyFile     = "ca-key.pem" // stays here
	serverFile    = "server.pem"
	serverKeyFile = "server-key.pem"
)

// How long certificates are valid, and when one is renewed.
const (
	authorityLifetime = 10 * 365 * 24 * time.Hour
	serverLifetime    = 397 * 24 * time.Hour
	renewBefore       = 30 * 24 * time.Hour
)

// Folder keeps what a server needs that others are to trust: an authority, a
// certificate of the server, and a token. It belongs to one process at a time.
type Folder struct {
	Dir    string
	Token  string
	Server tls.Certificate
	Until  time.Time // the server's certificate is valid
	Made   []string  // files that were not there, or had to be renewed

	lock *os.File
}

// Open reads the folder dir, and makes what is not there: the folder, for its owner
// alone, an authority for ten years, a token, and a certificate of a server of those
// names and addresses, which it renews where it lacks one of them or ends within 30
// days. Secrets that others can read are refused, and so is a folder in which others
// can write, or which another process has opened. Errors say what to do.
func Open(dir string, hosts []string, now time.Time) (_ *Folder, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("authority: %w; choose a folder in which you can write", err)
	}
	f := &Folder{Dir: dir}
	if err := f.take(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	a, err := f.authority(now)
	if err != nil {
		return nil, err
	}
	if err := f.server(a, hosts, now); err != nil {
		return nil, err
	}
	return f, f.token()
}

// Close gives the folder free.
func (f *Folder) Close() { f.lock.Close() }

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// take makes sure that nobody else uses the folder or writes into it.
func (f *Folder) take() (err error) {
	if f.lock, err = os.Open(f.Dir); err != nil {
		return fmt.Errorf("authority: %w; choose a folder of your own", err)
	}
	defer func() {
		if err != nil {
			f.lock.Close()
		}
	}()
	info, err := f.lock.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("authority: %w", err)
	case !info.IsDir():
		return fmt.Errorf("authority: %s is no folder; choose another name", f.Dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("authority: others can write in %s (%v), and so put keys of theirs there; chmod 700 %[1]s",
			f.Dir, info.Mode().Perm())
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("authority: %s is in use by another process (%w); end that one, or choose another folder", f.Dir, err)
	}
	return nil
}

func (f *Folder) authority(now time.Time) (*Authority, error) {
	files, err := f.read(CAFile, caKeyFile)
	if err != nil {
		return nil, err
	}
	if files == nil {
		a, err := New("dmebench testbed", now, authorityLifetime)
		if err != nil {
			return nil, err
		}
		// What the old one has signed nobody trusts any more.
		return a, errors.Join(f.remove(serverFile), f.remove(serverKeyFile), f.write(CAFile, caKeyFile, a.Files()))
	}
	remedy := fmt.Sprintf("remove both for a new authority, and give agents the new %s", CAFile)
	a, err := Parse(*files)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w; %s", f.Path(CAFile), caKeyFile, err, remedy)
	}
	if now.Add(renewBefore).After(a.Until()) {
		return nil, fmt.Errorf("%s and %s: the authority ends on %s; %s", f.Path(CAFile), caKeyFile, day(a.Until()), remedy)
	}
	return a, nil
}

func (f *Folder) server(a *Authority, hosts []string, now time.Time) error {
	files, err := f.read(serverFile, serverKeyFile)
	if err != nil {
		return err
	}
	if files == nil || !fits(*files, a, hosts, now) {
		made, err := a.Issue(Server, hosts, now, serverLifetime)
		if err != nil {
			return err
		}
		if err := f.write(serverFile, serverKeyFile, made); err != nil {
			return err
		}
		files = &made
	}
	certificate, _, err := files.parse()
	if err != nil {
		return err
	}
	f.Until = certificate.NotAfter
	f.Server, err = tls.X509KeyPair(files.Cert, files.Key)
	return err
}

// fits reports whether a certificate is still good for a server of those names.
func fits(files Pair, a *Authority, hosts []string, now time.Time) bool {
	c, _, err := files.parse()
	return err == nil && c.CheckSignatureFrom(a.certificate) == nil && now.Add(renewBefore).Before(c.NotAfter) &&
		!now.Before(c.NotBefore) && !slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(h) != nil })
}

func (f *Folder) token() error {
	b, err := f.readSecret(TokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Token = rand.Text()
		return f.put(TokenFile, []byte(f.Token+"\n"), true)
	case err != nil:
		return err
	}
	f.Token = strings.TrimSpace(string(b))
	if len(f.Token) < 16 || strings.ContainsAny(f.Token, "\r\n") {
		return fmt.Errorf("authority: %s: want one line of at least 16 characters; remove the file for a token that is drawn at random",
			f.Path(TokenFile))
	}
	return nil
}

// read returns a certificate with its key; nil where neither is there.
func (f *Folder) read(cert, key string) (*Pair, error) {
	var p Pair
	var certErr, keyErr error
	p.Cert, certErr = input.ReadFile(f.Path(cert), input.Text)
	p.Key, keyErr = f.readSecret(key)
	for _, err := range []error{certErr, keyErr} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	switch {
	case certErr != nil && keyErr != nil:
		return nil, nil
	case certErr != nil:
		return nil, fmt.Errorf("authority: %s is there and %s is not; put it back, or remove the former too", f.Path(key), cert)
	case keyErr != nil:
		return nil, fmt.Errorf("authority: %s is there and %s is not; put it back, or remove the former too", f.Path(cert), key)
	}
	return &p, nil
}

// readSecret reads a file that nobody but its owner may read.
func (f *Folder) readSecret(name string) ([]byte, error) {
	info, err := os.Lstat(f.Path(name))
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("authority: %s is no ordinary file; remove it", f.Path(name))
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("authority: others have access to %s (%v), which is a secret; "+
			"chmod 600 %[1]s, and remove it instead if somebody may have read it", f.Path(name), info.Mode().Perm())
	}
	return input.ReadFile(f.Path(name), input.Text)
}

// write writes a new certificate with its key. Where there is no space for both neither is
// left, since one alone would be refused ever after.
func (f *Folder) write(cert, key string, p Pair) error {
	err := f.put(key, p.Key, true)
	if err == nil {
		err = f.put(cert, p.Cert, false)
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, f.remove(cert), f.remove(key))
}

func (f *Folder) put(name string, content []byte, secret bool) error {
	write := atomicfile.Write
	if secret {
		write = atomicfile.WriteSecret
	}
	if err := write(f.Path(name), content); err != nil {
		return fmt.Errorf("authority: %w; is there space, and may you write there?", err)
	}
	f.Made = append(f.Made, name)
	return nil
}

func (f *Folder) remove(name string) error {
	if err := os.Remove(f.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("authority: %w", err)
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
