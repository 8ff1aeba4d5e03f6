/* Ricart and Agrawala 1981: N nodes that ask R times each, links that keep order.
   A channel is a link, a handler one d_step. */
#ifndef N
#define N 3
#endif
#ifndef R
#define R 2
#endif
#define REQUEST 0
#define REPLY 1
#define LINK(from, to) link[(from) * N + (to)]

chan link[N * N] = [3] of { bit, byte };
byte inside;

#define RECEIVE(from) \
	d_step { nempty(LINK(from, _pid)) -> LINK(from, _pid) ? kind, k; \
		if \
		:: kind == REQUEST -> \
			if :: k > highest -> highest = k :: else fi; \
			if :: asking && (mine < k || mine == k && _pid < from) -> deferred[from] = 1 \
			   :: else -> LINK(_pid, from) ! REPLY, 0 fi \
		:: else -> missing--; \
			if :: missing == 0 -> in = 1; inside++; assert(inside == 1) :: else fi \
		fi; \
		k = 0; kind = 0 }

active [N] proctype node() {
	byte left = R, mine, highest, missing, j, k;
	bit asking, in, kind;
	bit deferred[N];
end:	do
	:: d_step { left > 0 && !asking ->
		left--; asking = 1; mine = highest + 1; missing = N - 1; j = 0;
		do :: j < N -> if :: j != _pid -> LINK(_pid, j) ! REQUEST, mine :: else fi; j++
		   :: else -> break od;
		j = 0 }
	:: d_step { in -> in = 0; inside--; asking = 0; j = 0;
		do :: j < N -> if :: deferred[j] -> deferred[j] = 0; LINK(_pid, j) ! REPLY, 0 :: else fi; j++
		   :: else -> break od;
		j = 0 }
	:: RECEIVE(0)
	:: RECEIVE(1)
#if N > 2
	:: RECEIVE(2)
#endif
#if N > 3
	:: RECEIVE(3)
#endif
	od
}
