// Package singhal is the dynamic information-structure algorithm of
//
//	M. Singhal, A Dynamic Information-Structure Mutual Exclusion Algorithm for
//	Distributed Systems, IEEE Transactions on Parallel and Distributed Systems
//	3(1), 1992,
//
// as the textbook (Kshemkalyani and Singhal, Distributed Computing, chapter 9)
// gives it in section 9.5, Algorithm 9.3.
//
// A site S_i asks the sites of its request set R_i only, and owes an answer to
// those of its inform set I_i. Both change with every message: whoever was
// permitted to enter must be asked next time, whoever gave its permission need
// not be. Between requests, when nothing is on its way, the sets are a
// staircase: the sites stand in a line in which each asks exactly those to its
// right. Who was in its critical section last stands at the right end and asks
// nobody. At the start that is S_1, and R_i = {S_1, …, S_{i−1}}.
//
// # Departures from the printed text
//
// Read literally, Algorithm 9.3 can let two sites in, and can stop. Repairs,
// each marked in the code by its name:
//
//   - S1. The initialization puts S_i into its own R_i and I_i. It would wait
//     for itself for ever; the example of section 9.5.2 leaves it out.
//   - S2. Step 1 ends by "Requesting := false", and step 2 begins by "Executing
//     := true". A REQUEST handled between the two finds neither true and is
//     granted. Here they are one atomic step.
//   - S3. Step 1 waits until R_i is empty and goes on some time later. A
//     REQUEST handled in between may have refilled R_i. Here the step that
//     empties R_i is the step that enters.
//   - S4. No variable keeps the timestamp of the pending request, while C_i
//     moves on with every message. My_priority and the REQUEST that is sent to
//     a site that joins R_i late (section 9.5.1, (ii)) need the timestamp with
//     which the others know the request, so it is stored. Without it two sites
//     enter on links that do not keep order.
//   - A REPLY names the request that it answers, for which I_i holds requests
//     instead of sites. A REPLY that is not awaited is refused.
//
// [AsPublished] is the literal text, kept as a negative control.
//
// # Guarantees
//
// No two sites are in their critical sections together, and every request is
// served, on reliable links. Links need not keep order: the text says that they
// do, but with S4 a REQUEST that overtakes a REPLY is judged alike. An entry
// causes at most 2(n−1) messages, and none where the site was also the last to
// enter and nobody has asked since. Entries are not in timestamp order: clocks
// meet only where messages flow. Nothing is done about sites that fail.
package singhal
