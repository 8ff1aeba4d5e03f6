package survival

import "testing"

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
