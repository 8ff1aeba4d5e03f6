package testbed

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/transport/nats"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// verify checks a server's certificate as a client does that trusts ca.
func verify(t *testing.T, ca []byte, c *x509.Certificate, name string, at time.Time) error {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(ca) {
		t.Fatal("no certificate of an authority")
	}
	_, err := c.Verify(x509.VerifyOptions{
		DNSName: name, Roots: trusted, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

func TestCertificates(t *testing.T) {
	a, err := NewAuthority("a testbed", now, 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	files, err := a.Issue([]string{"10.0.0.7", "broker.example", "fe80::1"}, now, 5*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	server, err := tls.X509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewAuthority("a testbed", now, 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := a.Files().Cert, other.Files().Cert
	for _, c := range []struct {
		what  string
		ca    []byte
		name  string
		after time.Duration
		fails bool
	}{
		{"by address", mine, "10.0.0.7", 0, false},
		{"by name", mine, "broker.example", 0, false},
		{"a little too early", mine, "10.0.0.7", -backdated / 2, false},
		{"under another name", mine, "10.0.0.8", 0, true},
		{"by another authority of that name", theirs, "10.0.0.7", 0, true},
		{"a server that has expired", mine, "10.0.0.7", 6 * time.Hour, true},
	} {
		if err := verify(t, c.ca, server.Leaf, c.name, now.Add(c.after)); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	// Nothing is valid for longer than its authority.
	files, err = a.Issue([]string{"x"}, now, 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := tls.X509KeyPair(files.Cert, files.Key); err != nil || c.Leaf.NotAfter.After(a.Until()) {
		t.Errorf("valid until %v, the authority until %v (%v)", c.Leaf.NotAfter, a.Until(), err)
	}
	if _, err := ParseAuthority(files); err == nil {
		t.Error("a server's certificate passes for an authority's")
	}
	if _, err := ParseAuthority(Pair{a.Files().Cert, other.Files().Key}); err == nil {
		t.Error("the key of another authority is taken")
	}
}

func open(t *testing.T, dir string, hosts []string, at time.Time) *Folder {
	t.Helper()
	f, err := OpenFolder(dir, hosts, at)
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
	if want := []string{authorityFile, serverFile, CredsFile}; !slices.Equal(first.Made, want) {
		t.Errorf("made %v, want %v", first.Made, want)
	}
	for _, name := range append(first.Made, ".") {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is there for others: %v %v", name, info.Mode(), err)
		}
	}
	for _, c := range []struct {
		what  string
		hosts []string
		after time.Duration
		made  []string
	}{
		{"the same again", hosts, 0, nil},
		{"fewer names", hosts[:1], 24 * time.Hour, nil},
		{"one more name", append(hosts, "fe80::2"), 24 * time.Hour, []string{serverFile}},
		{"shortly before it ends", hosts, serverLifetime - renewBefore + 2*24*time.Hour, []string{serverFile}},
	} {
		again := open(t, dir, c.hosts, now.Add(c.after))
		if !slices.Equal(again.Made, c.made) || again.Token != first.Token {
			t.Errorf("%s: made %v, want %v; the same token: %v", c.what, again.Made, c.made, again.Token == first.Token)
		}
		b := credentials(t, dir)
		err := verify(t, b.CA, again.Server.Leaf, c.hosts[len(c.hosts)-1], now.Add(c.after))
		if err != nil || b.Token != first.Token || b.Key != nil {
			t.Errorf("%s: %v; %+v", c.what, err, b)
		}
	}
	if _, err := OpenFolder(dir, hosts, now.Add(authorityLifetime)); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("an authority at its end: %v", err)
	}
	os.Remove(filepath.Join(dir, authorityFile))
	if f := open(t, dir, hosts, now); len(f.Made) != 3 || f.Token != first.Token {
		t.Errorf("a new authority: made %v", f.Made)
	}
}

func credentials(t *testing.T, dir string) (b nats.Broker) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, CredsFile))
	if err == nil {
		err = Credentials(file, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The clients of a folder of an earlier release still know its server.
func TestFolderOfAnEarlierRelease(t *testing.T) {
	dir := t.TempDir()
	a, err := NewAuthority("old", now, authorityLifetime)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"ca.pem": a.Files().Cert, "ca-key.pem": a.Files().Key, "token": []byte("0123456789abcdef\n"), serverFile: a.Files().Cert,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		f := open(t, dir, []string{"10.0.0.7"}, now)
		err := verify(t, a.Files().Cert, f.Server.Leaf, "10.0.0.7", now)
		if b := credentials(t, dir); err != nil || f.Token != "0123456789abcdef" || !bytes.Equal(b.CA, a.Files().Cert) {
			t.Errorf("%v, token %s", err, f.Token)
		}
	}
}

func TestFolderRefusesWhatIsNotSafe(t *testing.T) {
	hosts := []string{"10.0.0.7"}
	write := func(name, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
	}
	for _, c := range []struct {
		what  string
		spoil func(dir string) error
		says  string
	}{
		{"others can write", func(d string) error { return os.Chmod(d, 0o777) }, "chmod 700"},
		{"others read a key", func(d string) error { return os.Chmod(filepath.Join(d, authorityFile), 0o640) }, "chmod 600"},
		{"others read the token", func(d string) error { return os.Chmod(filepath.Join(d, CredsFile), 0o604) }, "chmod 600"},
		{"a key of another", func(d string) error {
			return os.Rename(filepath.Join(d, serverFile), filepath.Join(d, authorityFile))
		}, "not an authority's"},
		{"no key at all", write(authorityFile, "hello"), "PEM data"},
		{"no token", write(CredsFile, ""), "no token"},
		{"a token that can be guessed", write(CredsFile, "secret"), "16"},
		{"a link", func(d string) error {
			os.Remove(filepath.Join(d, CredsFile))
			return os.Symlink("/etc/passwd", filepath.Join(d, CredsFile))
		}, "not a regular file"},
		{"used by another process", func(d string) error {
			f, err := OpenFolder(d, hosts, now)
			if err == nil {
				t.Cleanup(f.Close)
			}
			return err
		}, "in use"},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		open(t, dir, hosts, now)
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFolder(dir, hosts, now); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", c.what, err, c.says)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(file, hosts, now); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// What a file of credentials is, its content tells.
func TestCredentials(t *testing.T) {
	a, err := NewAuthority("a testbed", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	client, err := a.Issue(nil, now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca, cert, key := string(a.Files().Cert), string(client.Cert), string(client.Key)
	const jwt = "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n\nIMPORTANT\n" +
		"-----BEGIN USER NKEY SEED-----\nSUAA\n------END USER NKEY SEED------\n"
	token := string(writeCredentials("s3cret", nil))
	for _, x := range []struct {
		what, file string
		want       nats.Broker
	}{
		{"what the broker writes", token + ca, nats.Broker{Token: "s3cret", CA: []byte(ca)}},
		{"a token alone", " s3cret\n", nats.Broker{Token: "s3cret"}},
		{"credentials of NATS", jwt, nats.Broker{Creds: []byte(jwt)}},
		{"the same with an authority", jwt + ca, nats.Broker{Creds: []byte(jwt), CA: []byte(ca)}},
		{"the same the other way round", "the authority:\n" + ca + jwt, nats.Broker{Creds: []byte(jwt), CA: []byte(ca)}},
		{"everything, in any order", key + ca + cert + token,
			nats.Broker{Token: "s3cret", CA: []byte(ca), Cert: []byte(cert), Key: []byte(key)}},
		{"no authority", key + cert, nats.Broker{Cert: []byte(cert), Key: []byte(key)}},
		{"an authority alone", "some text\n" + ca, nats.Broker{CA: []byte(ca)}},
	} {
		var b nats.Broker
		if err := Credentials([]byte(x.file), &b); err != nil || !reflect.DeepEqual(b, x.want) {
			t.Errorf("%s: %v %+v", x.what, err, b)
		}
	}
	for file, says := range map[string]string{
		" \n":                        "it is empty",
		"two\nlines":                 "want the file creds",
		token + token:                "two of DMEBENCH TOKEN",
		key + key:                    "two of PRIVATE KEY",
		(token + ca)[:200]:           "copy the whole file",
		jwt[:100]:                    "copy the whole file",
		ca + key:                     "no certificate of it to present",
		ca + string(a.Files().Key):   "stays with the broker",
		cert + string(a.Files().Key): "does not match",
		strings.ReplaceAll(key, "PRIVATE", "OPENSSH PRIVATE"): "OPENSSH PRIVATE KEY, which is of no use",
		strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"): "cannot be read",
	} {
		var b nats.Broker
		if err := Credentials([]byte(file), &b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", file, err, says)
		}
	}
}
