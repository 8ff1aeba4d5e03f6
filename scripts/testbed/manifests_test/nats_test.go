package manifests_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// secrets makes the secrets for a server of that name in a folder of their own.
func secrets(t *testing.T, names ...string) string {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("secrets.sh needs openssl, and there is none here")
	}
	dir := filepath.Join(t.TempDir(), "secrets")
	if out, err := exec.Command(filepath.Join(testbed, "secrets.sh"), append([]string{dir}, names...)...).CombinedOutput(); err != nil {
		t.Fatalf("secrets.sh: %v\n%s", err, out)
	}
	return dir
}

// configuration is the server's configuration as the server reads it, with the folder
// of its files in place of /etc/nats.
func configuration(t *testing.T, dir string) *server.Options {
	t.Helper()
	conf, err := os.ReadFile(filepath.Join(testbed, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(conf), `"/etc/nats/server.pem"`) {
		t.Fatal("nats.conf has its certificate elsewhere")
	}
	conf = []byte(strings.ReplaceAll(string(conf), `"/etc/nats/`, `"`+dir+`/`))
	path := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(path, conf, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path) // unknown keys are errors
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestServersConfiguration(t *testing.T) {
	dir := secrets(t, "nats")
	o := configuration(t, dir)
	creds, err := os.ReadFile(filepath.Join(dir, "creds"))
	if err != nil {
		t.Fatal(err)
	}
	token, authority := pem.Decode(creds)
	if token == nil || token.Type != "DMEBENCH TOKEN" || !x509.NewCertPool().AppendCertsFromPEM(authority) {
		t.Fatalf("the clients' credentials are no token and authority:\n%s", creds)
	}
	switch {
	case o.TLSConfig == nil:
		t.Error("no TLS")
	case o.Authorization == "" || o.Authorization != string(token.Bytes):
		t.Error("the server's token is not the clients'")
	case !o.JetStream || o.StoreDir != "/data":
		t.Error("no JetStream in /data")
	case o.MaxPayload < 8<<20:
		t.Errorf("messages of %d bytes", o.MaxPayload)
	case o.HTTPHost != "127.0.0.1":
		t.Errorf("others can read the server's state at %s", o.HTTPHost)
	case o.Port != server.DEFAULT_PORT:
		t.Errorf("port %d", o.Port)
	}
}

// The images are of the server that has read the configuration here.
func TestServersImages(t *testing.T) {
	minor := server.VERSION[:strings.LastIndex(server.VERSION, ".")]
	for _, file := range []string{"compose.yaml", "kubernetes/nats.yaml"} {
		content, err := os.ReadFile(filepath.Join(testbed, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "image: nats:"+minor+"-alpine\n") {
			t.Errorf("%s does not run nats:%s-alpine", file, minor)
		}
	}
}

// What is there is kept: a second call changes no secret that is in use.
func TestSecretsAreKept(t *testing.T) {
	dir := secrets(t, "nats", "10.77.0.1")
	read := func() string {
		var all strings.Builder
		for _, name := range []string{"creds", "token.conf", "server.pem", "server-key.pem"} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(content)
		}
		return all.String()
	}
	before := read()
	if out, err := exec.Command(filepath.Join(testbed, "secrets.sh"), dir, "elsewhere").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if read() != before {
		t.Error("the secrets are others now")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
