package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

func TestSame(t *testing.T) {
	a := Program{Version: "v1.0.0", Commit: "c0ffee", SHA256: "11"}
	for _, x := range []struct {
		p, q Program
		want bool
	}{
		{a, a, true},
		{a, Program{Version: "v1.0.0", Commit: "c0ffee", SHA256: "22"}, true}, // for another system
		{a, Program{Version: "v1.0.0", Commit: "beef", SHA256: "11"}, false},
		{a, Program{Version: "v2.0.0", Commit: "c0ffee", SHA256: "11"}, false},
		{a, Program{Version: "(devel)", SHA256: "11"}, true},
		{a, Program{Version: "(devel)", SHA256: "22"}, false},
		{Program{Version: "(devel)"}, Program{Version: "(devel)"}, false},
	} {
		if x.p.Same(x.q) != x.want || x.q.Same(x.p) != x.want {
			t.Errorf("%s and %s: want %v", x.p, x.q, x.want)
		}
	}
}

func TestThisProgram(t *testing.T) {
	p, err := ThisProgram()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content); p.SHA256 != hex.EncodeToString(sum[:]) || !p.Same(p) {
		t.Errorf("%+v", p)
	}
}
