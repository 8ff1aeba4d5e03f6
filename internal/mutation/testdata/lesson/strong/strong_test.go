package strong

import (
	"testing"

	"lesson/parcel"
)

func TestLimit(t *testing.T) {
	if got, err := parcel.Price(1000); got != 100 || err != nil {
		t.Errorf("1000 g cost %d, %v", got, err)
	}
	if _, err := parcel.Price(1001); err == nil {
		t.Error("1001 g are carried")
	}
}
