package page

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Ref refers to an element of a list; the zero value to none.
type Ref int

// At refers to the i-th element.
func At(i int) Ref { return Ref(i + 1) }

// Index is the place of the element, −1 for none.
func (r Ref) Index() int { return int(r) - 1 }

// MarshalJSON writes the place.
func (r Ref) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(r)-1, 10), nil }

// Real is a number with six significant digits; NaN and infinities are written as null.
type Real float64

// Digits is how many significant digits a page has of a number.
const Digits = 6

// MarshalJSON writes the number as short as it can be.
func (x Real) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return []byte(exponent.Replace(strconv.FormatFloat(float64(x), 'g', Digits, 64))), nil
}

// exponent shortens 1e+06 to 1e6.
var exponent = strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")

// Known returns the number, to be referred to.
func Known(x float64) *Real {
	r := Real(x)
	return &r
}

// Num is a value that is a number.
func Num(x float64) Value { return Value{Number: Known(x)} }

// Word is a value that is a text.
func Word(text string) Value { return Value{Text: text} }

// MarshalJSON writes a value that is nothing but a number or a text as such.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v {
	case Value{Number: v.Number}:
		return json.Marshal(v.Number)
	case Value{Text: v.Text}:
		return json.Marshal(v.Text)
	}
	type plain Value
	return json.Marshal(plain(v))
}

// MarshalJSON writes an estimate as a list: count, median, lo, hi, min, max, standing, what
// it is against the best, and the clocks' bound; without what is not known at the end.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if e.Count == 0 {
		return []byte("null"), nil
	}
	list := []any{e.Count, Real(e.Median), Real(e.Lo), Real(e.Hi), Real(e.Min), Real(e.Max)}
	if e.Standing != "" || e.Clocks > 0 {
		list = append(list, e.Standing, e.Against)
	}
	if e.Clocks > 0 {
		list = append(list, Real(e.Clocks))
	}
	return json.Marshal(list)
}
