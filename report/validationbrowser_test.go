package report_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// In a browser the claims can be filtered, and a link opens the one that it names.
func TestValidationInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here: ", err)
	}
	d := verdicts()
	for i := range d.Claims {
		d.Claims[i].ID = string(rune('a'+i)) + "/claim"
	}
	// A hand that takes away the check of what holds.
	const hand = `<script>
const box = document.querySelector('input[value="holds"]');
box.checked = false;
box.dispatchEvent(new Event("input", {bubbles: true}));
</script></body>`
	path := filepath.Join(t.TempDir(), "validate.html")
	if err := os.WriteFile(path, []byte(strings.Replace(pageOf(t, d), "</body>", hand, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // for a machine that is busy with everything else
	defer cancel()
	dom, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--dump-dom", "file://"+path+"#d/claim").Output()
	if err != nil {
		t.Skip("chromium does not run here: ", err)
	}
	page := string(dom)
	if !strings.Contains(page, "<output>3 of 5 claims</output>") {
		t.Error("without what holds there are not 3 of 5 claims")
	}
	for id, want := range map[string][2]bool{"a": {}, "b": {true}, "c": {true}, "d": {false, true}} { // hidden, open
		_, tag, _ := strings.Cut(page, `<details id="`+id+`/claim"`)
		tag, _, _ = strings.Cut(tag, ">")
		if got := [2]bool{strings.Contains(tag, "hidden"), strings.Contains(tag, "open")}; got != want {
			t.Errorf("claim %s: hidden and open are %v, want %v: %q", id, got, want, tag)
		}
	}
}
