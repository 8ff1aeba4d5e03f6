package page

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

func TestNumbersAreCompact(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{Real(1234567.8), "1.23457e6"}, {Real(12), "12"}, {Real(math.NaN()), "null"}, {Real(math.Inf(1)), "null"},
		{Num(0.5), "0.5"}, {Word("a"), `"a"`}, {Value{}, "null"}, {Value{Number: Known(1), Text: "one"}, `{"v":1,"t":"one"}`},
		{Estimate{}, "null"}, {Estimate{Count: 1, Median: 2, Lo: math.NaN(), Hi: math.NaN(), Min: 2, Max: 2}, "[1,2,null,null,2,2]"},
		{Row{Label: At(0), Values: []Value{}}, `{"label":0,"values":[]}`},
	} {
		if got, err := json.Marshal(c.value); err != nil || string(got) != c.want {
			t.Errorf("%+v is %s, %v; want %s", c.value, got, err, c.want)
		}
	}
}

func TestNoLabelBecomesMarkup(t *testing.T) {
	d := Data{Title: "</title><script>alert(1)</script>", Labels: []Label{{Name: "</script><script>alert(2)</script>"}}}
	html, err := d.Render()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(html, []byte("alert(1)</script>")) || bytes.Contains(html, []byte("alert(2)</script>")) {
		t.Errorf("a label became markup: %s", html)
	}
}
