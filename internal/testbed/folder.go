package testbed

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/fileio"
	"dmebench/transport/nats"
)

// Names of the files in a folder; all are secret.
const (
	CredsFile     = "creds"         // lets agents and coordinators in: a token, and the authority that they are to trust
	authorityFile = "authority.pem" // its certificate and key, which stay here
	serverFile    = "server.pem"    // certificate and key
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

// OpenFolder reads the folder dir, and makes what is not there: the folder, for its owner
// alone, an authority for ten years, a certificate of a server of those names and
// addresses, which it renews if it lacks one of them or ends within 30 days, and the
// credentials of clients. Files that others can read are refused, and so is a folder in
// which others can write, or which another process has opened. Errors say what to do.
func OpenFolder(dir string, hosts []string, now time.Time) (_ *Folder, err error) {
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
	if err := f.adopt(); err != nil {
		return nil, err
	}
	a, err := f.authority(now)
	if err != nil {
		return nil, err
	}
	if err := f.server(a, hosts, now); err != nil {
		return nil, err
	}
	return f, f.credentials(a)
}

func (f *Folder) Close() { f.lock.Close() }

func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// take makes sure that no other process uses the folder or writes into it.
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
		return fmt.Errorf("authority: %s is not a folder; choose another name", f.Dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("authority: others can write in %s (%v), and so put keys of theirs there; chmod 700 %[1]s",
			f.Dir, info.Mode().Perm())
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("authority: %s is in use by another process (%w); end that one, or choose another folder", f.Dir, err)
	}
	return nil
}

// adopt takes over a folder of an earlier release, in which each thing had a file of its
// own, so that the agents of that testbed still trust it.
func (f *Folder) adopt() error {
	key, err := f.read("ca-key.pem")
	if _, there := os.Lstat(f.Path(authorityFile)); err != nil || key == nil || there == nil {
		return err
	}
	certificate, err := fileio.Read(f.Path("ca.pem"), fileio.MostText)
	if err != nil {
		return err
	}
	token, err := f.read("token")
	if err == nil && token != nil {
		var b nats.Broker
		if err = b.Credentials(token); err == nil {
			err = f.write(CredsFile, writeCredentials(b.Token, certificate))
		}
	}
	if err != nil {
		return err
	}
	return f.write(authorityFile, append(certificate, key...))
}

func (f *Folder) authority(now time.Time) (*Authority, error) {
	file, err := f.read(authorityFile)
	if err != nil {
		return nil, err
	}
	if file == nil {
		a, err := NewAuthority("dmebench testbed", now, authorityLifetime)
		if err != nil {
			return nil, err
		}
		return a, f.write(authorityFile, a.Files().join())
	}
	remedy := fmt.Sprintf("remove it for a new authority, and give agents the new %s", CredsFile)
	a, err := ParseAuthority(Pair{file, file})
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", f.Path(authorityFile), err, remedy)
	}
	if now.Add(renewBefore).After(a.Until()) {
		return nil, fmt.Errorf("%s: the authority ends on %s; %s", f.Path(authorityFile), a.Until().UTC().Format(time.DateOnly), remedy)
	}
	return a, nil
}

func (f *Folder) server(a *Authority, hosts []string, now time.Time) error {
	file, err := f.read(serverFile)
	if err != nil {
		return err
	}
	if f.Server, err = tls.X509KeyPair(file, file); err != nil || !fits(f.Server.Leaf, a, hosts, now) {
		made, err := a.Issue(hosts, now, serverLifetime)
		if err != nil {
			return err
		}
		if err := f.write(serverFile, made.join()); err != nil {
			return err
		}
		if f.Server, err = tls.X509KeyPair(made.Cert, made.Key); err != nil {
			return err
		}
	}
	f.Until = f.Server.Leaf.NotAfter
	return nil
}

func fits(c *x509.Certificate, a *Authority, hosts []string, now time.Time) bool {
	return c.CheckSignatureFrom(a.certificate) == nil && now.Add(renewBefore).Before(c.NotAfter) &&
		!now.Before(c.NotBefore) && !slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(h) != nil })
}

// credentials reads the token, and has clients trust the authority.
func (f *Folder) credentials(a *Authority) error {
	file, err := f.read(CredsFile)
	if err != nil {
		return err
	}
	var b nats.Broker
	if file == nil {
		b.Token = rand.Text()
	} else if err := Credentials(file, &b); err != nil || len(b.Token) < 16 {
		return fmt.Errorf("authority: %s: no token of at least 16 characters in it (%v); remove it for one that is drawn at random, "+
			"and give that to agents", f.Path(CredsFile), err)
	}
	f.Token = b.Token
	if want := writeCredentials(b.Token, a.Files().Cert); string(file) != string(want) {
		return f.write(CredsFile, want)
	}
	return nil
}

// read returns the content of a file that only its owner may read; nil if it is not there.
func (f *Folder) read(name string) ([]byte, error) {
	info, err := os.Lstat(f.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("authority: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("authority: %s is not a regular file; remove it", f.Path(name))
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("authority: others have access to %s (%v), which is a secret; "+
			"chmod 600 %[1]s, or remove it if others may have read it", f.Path(name), info.Mode().Perm())
	}
	return fileio.Read(f.Path(name), fileio.MostText)
}

func (f *Folder) write(name string, content []byte) error {
	if err := fileio.WriteSecret(f.Path(name), content); err != nil {
		return fmt.Errorf("authority: %w; is there space, and may you write there?", err)
	}
	f.Made = append(f.Made, name)
	return nil
}
