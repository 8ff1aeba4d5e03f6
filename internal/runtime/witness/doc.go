// Package witness watches over mutual exclusion from outside the algorithm, by what every critical
// section does.
//
// A [Page] is memory that the workers of one host share. Each entry is a compare-and-swap.
//
// A shared resource is what every critical section of a run reads, changes and writes back: what
// mutual exclusion is for. It needs neither memory nor a clock that hosts have in common. A
// [Bucket] is the coordinator's end of it, a [Resource] a worker's.
//
// The resource is a key of a JetStream key-value bucket, one bucket for each run, in memory. Its
// server gives every write a revision, each larger than all before. An entry reads the value and
// its revision, and when it is over writes the value back on the condition that the revision is
// still the same. If it is not, another entry wrote in between: two critical sections were entered
// at the same time, and what the other has written is overwritten, as it would be in a file or a
// database. Such a lost update is a violation of mutual exclusion, and the value itself remembers
// it, so that it outlives the processes that saw it.
//
// The revision that an entry has read is its fencing number: of two entries that did not overlap,
// the later one has the larger number, whatever their clocks say.
//
// An entry of a reader only reads: readers that are inside together have the number of the writer
// that comes after them.
package witness
