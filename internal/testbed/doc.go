// Package testbed is the room of other hosts: certificates of one's own, which are here,
// the agent that offers a host, the queue from which agents take simulations and searches
// (workqueue), and whether a host is fit for runs (doctor).
//
// An [Authority] signs the certificates of servers, and the hosts of a testbed trust it.
// [Folder] keeps them in files, and [Credentials] reads what lets clients in. Keys are
// ECDSA over P-256. Nothing is revoked: if a key is lost, make a new authority. A date
// changed by hand, or a host whose clock is years off, shows as a certificate that is not
// valid.
//
// Only the command line imports it.
package testbed
