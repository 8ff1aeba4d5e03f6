package survival

import (
	"strings"
	"testing"

	"dmebench/claims"
)

func TestWords(t *testing.T) {
	for want, c := range map[string]Cell{
		"goes on":    {Safe: Yes, Live: Yes, Runs: 6},
		"stops":      {Safe: Yes, Live: No, Runs: 6, Stopped: 6},
		"stops 2/6":  {Safe: Yes, Live: No, Runs: 6, Stopped: 2},
		"stops 0/6":  {Safe: Yes, Live: No, Runs: 6, Search: &Search{Live: No}},
		"unsafe 1/6": {Safe: No, Live: No, Runs: 6, Stopped: 5, Unsafe: 1},
		"unknown":    {Safe: Yes, Live: Unknown, Runs: 6},
		"–":          {Safe: Unknown, Live: Unknown, WhyNot: "there is no root"},
	} {
		if got := c.Word(); got != want {
			t.Errorf("%+v: %q; want %q", c, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	low, high := 1e6, 3e6
	d := &Document{
		Nodes: 7, Networks: []string{"sim"}, Repetitions: 6, Seed: 1,
		Cells: []Cell{
			{
				Algorithm: "raymond", Fault: "crash-token", Title: "crash of the token's holder", Safe: Yes, Live: No, Runs: 6, Stopped: 6,
				SafeBy: ByStates, Why: []string{"2 waits for 1's PRIVILEGE; 1 is down"}, Witness: "dmebench run --fault 'kill token @entry:20'",
			},
			{
				Algorithm: "maekawa", Fault: "crash-token", Title: "crash of the token's holder", Safe: Unknown, Live: Unknown,
				WhyNot: "there is no token",
			},
			{
				Algorithm: "maekawa", Fault: "loss", Title: "loss of <1> message", Safe: No, Live: Yes, Runs: 6,
				Recovery: &Measure{Median: 2e6, Low: &low, High: &high, Count: 6},
				Search:   &Search{Safe: No, Verdict: "two nodes", Witness: "dmebench check --lose 1"},
			},
		},
		Claims: []claims.Verdict{{
			Algorithm: "maekawa", Quantity: "violations", Formula: "0", Source: "a paper", Verdict: claims.Fails, Text: "fails: 3",
		}},
	}
	files, err := Files(d, "body { color: red }")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"survival.json": {`"stopped": 6`, `"why_not": "there is no token"`},
		"survival.md": {
			"| raymond | stops |", "| maekawa | – | unsafe 0/6 |", "| a paper | fails |", "`survival.html`",
		},
		"survival.html": {
			"body { color: red }", "<td class=\"part\">stops</td>", "<td class=\"bad\">unsafe 0/6</td>", "loss of &lt;1&gt; message",
			"kill token @entry:20", "fails: 3", "2 waits for 1&#39;s PRIVILEGE", `<td data-value="2e&#43;06">2ms [1ms, 3ms]</td>`,
			"two nodes", "<code>dmebench check --lose 1</code>", "there is no token", `<tr id="maekawa"><td>maekawa</td>`,
			`<input id="filter"`, `addEventListener("click"`,
		},
	}
	for _, f := range files {
		for _, text := range want[f.Name] {
			if !strings.Contains(string(f.Data), text) {
				t.Errorf("%s does not say %q:\n%s", f.Name, text, f.Data)
			}
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("not written: %v", want)
	}
}
