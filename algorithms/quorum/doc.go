// Package quorum builds request sets: for each node i of N the set S_i of
// nodes whose permission i must have before it may enter its critical section
// (Maekawa 1985, sections 2 and 3). Two nodes are kept apart because any two
// request sets have a common member, which permits one of them at a time.
//
// A [System] is the family of all request sets of N nodes. It is immutable,
// deterministic (a function of its construction and N alone) and may be used
// by several goroutines. Where the sets follow a rule they are computed when
// they are asked for: the plane of 10,303 nodes is kept as 102 numbers, not as
// a million.
//
// [Constructions] lists the ways there are to build one:
//
//   - plane: lines of a finite projective plane, the smallest sets that share
//     the work equally, K ≈ √N (Maekawa 1985, section 3);
//   - grid: row and column of a near-square grid, K ≈ 2√N;
//   - majority: ⌊N/2⌋+1 nodes;
//   - weighted: nodes with more than half of the votes (Gifford 1979), which
//     with all votes at one node is centralized control;
//   - tree: a path from the root of a binary tree to a leaf, K ≈ log2 N (Agrawal
//     and El Abbadi 1991); [TreeQuorum] replaces nodes that have failed;
//   - singleton: node 1 alone, which is centralized control (Maekawa 1985,
//     section 2);
//   - file: sets that somebody has written down, and of which any two must meet.
//
// Every construction works for every N ≥ 1 and keeps the property (a) any two
// sets meet; plane, grid, majority and tree keep (b) i ∈ S_i. Whether (c) all
// sets are equally large and (d) every node serves equally many,
// [System.Properties] tells. What is left of a system while nodes fail,
// [System.Resilience] tells; a node finds another quorum by [System.Substitute],
// and keeps what it knows of failed nodes in [Failures].
//
// The package does not decide anything about messages, and it does not look
// for coteries with the best availability.
package quorum
