// Package parcel is a small program with tests that see some faults.
package parcel

import "errors"

// Limit is the heaviest parcel that is carried, in grams.
const Limit = 1000

// Price is what a parcel costs, in cents: 10 for 100 g begun, and nothing for an
// empty one.
func Price(grams int) (int, error) {
	if grams > Limit {
		return 0, errors.New("too heavy")
	}
	price := 0
	for ; grams > 0; grams -= 100 {
		price += 10
	}
	return price, nil
}

// Unseen has no test.
func Unseen(a, b bool) bool { return a && b }
