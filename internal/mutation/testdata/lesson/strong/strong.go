// Package strong holds the tests of parcel that its own lack.
package strong
