package authority

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// shake connects a client that trusts ca to a server, both at a time of their own, and
// returns how that went at either end.
func shake(t *testing.T, ca []byte, name string, server tls.Certificate, client *tls.Certificate, at time.Time) (dialed, listened error) {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(ca) {
		t.Fatal("no certificate of an authority")
	}
	clock := func() time.Time { return at }
	there := &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: trusted, Time: clock, MinVersion: tls.VersionTLS13}
	here := &tls.Config{RootCAs: trusted, ServerName: name, Time: clock}
	if client != nil {
		there.ClientAuth = tls.RequireAndVerifyClientCert
		here.Certificates = []tls.Certificate{*client}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = tls.Server(c, there).Handshake()
			c.Close()
		}
		done <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dialed = tls.Client(c, here).Handshake()
	c.Close()
	return dialed, <-done
}

func TestCertificates(t *testing.T) {
	a, err := New("a testbed", now, 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(p Purpose, lifetime time.Duration, hosts ...string) tls.Certificate {
		t.Helper()
		files, err := a.Issue(p, hosts, now, lifetime)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	server := issue(Server, 5*time.Hour, "10.0.0.7", "broker.example", "fe80::1")
	client := issue(Client, 3*time.Hour, "10.0.0.9")
	other, err := New("a testbed", now, 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		ca     []byte
		name   string
		server tls.Certificate
		client *tls.Certificate
		after  time.Duration
		fails  bool
	}{
		{what: "by address", ca: a.Files().Cert, name: "10.0.0.7", server: server},
		{what: "by another address", ca: a.Files().Cert, name: "fe80::1", server: server},
		{what: "by name", ca: a.Files().Cert, name: "broker.example", server: server, client: &client},
		{what: "a little too early", ca: a.Files().Cert, name: "10.0.0.7", server: server, after: -backdated / 2},
		{what: "under another name", ca: a.Files().Cert, name: "10.0.0.8", server: server, fails: true},
		{what: "by another authority of that name", ca: other.Files().Cert, name: "10.0.0.7", server: server, fails: true},
		{what: "a server that has expired", ca: a.Files().Cert, name: "10.0.0.7", server: server, after: 6 * time.Hour, fails: true},
		{what: "a client that has expired",
			ca: a.Files().Cert, name: "10.0.0.7", server: server, client: &client, after: 4 * time.Hour, fails: true},
		{what: "a client as a server", ca: a.Files().Cert, name: "10.0.0.9", server: client, fails: true},
		{what: "a server as a client", ca: a.Files().Cert, name: "10.0.0.7", server: server, client: &server, fails: true},
	} {
		dialed, listened := shake(t, c.ca, c.name, c.server, c.client, now.Add(c.after))
		if failed := dialed != nil || listened != nil; failed != c.fails {
			t.Errorf("%s: the client says %v, the server %v", c.what, dialed, listened)
		}
	}
	// Nothing is valid for longer than its authority.
	files, err := a.Issue(Server, []string{"x"}, now, 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err := files.parse(); err != nil || c.NotAfter.After(a.Until()) {
		t.Errorf("valid until %v, the authority until %v (%v)", c.NotAfter, a.Until(), err)
	}
	if _, err := Parse(files); err == nil {
		t.Error("a server's certificate passes for an authority's")
	}
	if _, err := Parse(Pair{a.Files().Cert, other.Files().Key}); err == nil {
		t.Error("the key of another authority is taken")
	}
}

func open(t *testing.T, dir string, hosts []string, at time.Time) *Folder {
	t.Helper()
	f, err := Open(dir, hosts, at)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return f
}

func TestFolderKeepsWhatIsGood(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	hosts := []string{"10.0.0.7", "broker.example"}
	first := open(t, dir, hosts, now)
	if want := []string{caKeyFile, CAFile, serverKeyFile, serverFile, TokenFile}; !slices.Equal(first.Made, want) {
		t.Errorf("made %v, want %v", first.Made, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		public := e.Name() == CAFile || e.Name() == serverFile
		if mode := info.Mode().Perm(); mode != 0o600 && !public {
			t.Errorf("%s is there for %v", e.Name(), mode)
		}
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is there for %v", info.Mode())
	}
	for _, c := range []struct {
		what  string
		hosts []string
		after time.Duration
		made  []string
	}{
		{"the same again", hosts, 0, nil},
		{"fewer names", hosts[:1], 24 * time.Hour, nil},
		{"one more name", append(hosts, "fe80::2"), 24 * time.Hour, []string{serverKeyFile, serverFile}},
		{"shortly before it ends", hosts, serverLifetime - renewBefore + 2*24*time.Hour, []string{serverKeyFile, serverFile}},
	} {
		again := open(t, dir, c.hosts, now.Add(c.after))
		if !slices.Equal(again.Made, c.made) || again.Token != first.Token {
			t.Errorf("%s: made %v, want %v; the same token: %v", c.what, again.Made, c.made, again.Token == first.Token)
		}
		ca, err := os.ReadFile(again.Path(CAFile))
		if err != nil {
			t.Fatal(err)
		}
		if dialed, listened := shake(t, ca, c.hosts[len(c.hosts)-1], again.Server, nil, now.Add(c.after)); dialed != nil {
			t.Errorf("%s: the client says %v, the server %v", c.what, dialed, listened)
		}
	}
	if _, err := Open(dir, hosts, now.Add(authorityLifetime)); err == nil || !strings.Contains(err.Error(), "remove both") {
		t.Errorf("an authority at its end: %v", err)
	}
	os.Remove(filepath.Join(dir, CAFile))
	os.Remove(filepath.Join(dir, caKeyFile))
	if f := open(t, dir, hosts, now); len(f.Made) != 4 {
		t.Errorf("a new authority: made %v", f.Made)
	}
}

func TestFolderRefusesWhatIsNotSafe(t *testing.T) {
	hosts := []string{"10.0.0.7"}
	for _, c := range []struct {
		what  string
		spoil func(dir string) error
		says  string
	}{
		{"others can write", func(d string) error { return os.Chmod(d, 0o777) }, "chmod 700"},
		{"others read a key", func(d string) error { return os.Chmod(filepath.Join(d, caKeyFile), 0o640) }, "chmod 600"},
		{"others read the token", func(d string) error { return os.Chmod(filepath.Join(d, TokenFile), 0o604) }, "chmod 600"},
		{"others read the server's key", func(d string) error { return os.Chmod(filepath.Join(d, serverKeyFile), 0o644) }, "chmod 600"},
		{"a key is missing", func(d string) error { return os.Remove(filepath.Join(d, caKeyFile)) }, "put it back"},
		{"a certificate is missing", func(d string) error { return os.Remove(filepath.Join(d, serverFile)) }, "put it back"},
		{"a key of another", func(d string) error {
			return os.Rename(filepath.Join(d, serverKeyFile), filepath.Join(d, caKeyFile))
		}, "not the certificate's"},
		{"no key at all", func(d string) error { return os.WriteFile(filepath.Join(d, caKeyFile), []byte("hello"), 0o600) }, "in PEM"},
		{"an empty token", func(d string) error { return os.WriteFile(filepath.Join(d, TokenFile), nil, 0o600) }, "one line"},
		{"a token that can be guessed", func(d string) error { return os.WriteFile(filepath.Join(d, TokenFile), []byte("secret"), 0o600) }, "16"},
		{"a link", func(d string) error {
			os.Remove(filepath.Join(d, TokenFile))
			return os.Symlink("/etc/passwd", filepath.Join(d, TokenFile))
		}, "no ordinary file"},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		open(t, dir, hosts, now)
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, hosts, now); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", c.what, err, c.says)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, hosts, now); err == nil {
		t.Error("a file is taken for a folder")
	}
}

func TestFolderBelongsToOne(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir, []string{"10.0.0.7"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, []string{"10.0.0.7"}, now); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("while another has it: %v", err)
	}
	first.Close()
	second, err := Open(dir, []string{"10.0.0.7"}, now)
	if err != nil {
		t.Fatal(errors.Join(errors.New("after the other has closed it"), err))
	}
	second.Close()
}
