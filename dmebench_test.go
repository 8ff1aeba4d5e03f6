package dmebench

import (
	"bytes"
	"strings"
	"testing"

	"dmebench/dme"
)

func TestAFaultyDescriptionIsRefused(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Run([]string{"dmebench", "list"}, strings.NewReader(""), &stdout, &stderr,
		Config{Algorithms: []*dme.Algorithm{{Name: "maekawa"}}})
	if code != 64 || stdout.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, stdout.String())
	}
	for _, want := range []string{`algorithm "maekawa": no citation`, `two algorithms are named "maekawa"`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error does not say %q:\n%s", want, stderr.String())
		}
	}
}
