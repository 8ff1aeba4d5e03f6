/* Lamport 1978: N nodes that ask R times each. A channel is a link, a handler one d_step. */
#ifndef N
#define N 3
#endif
#ifndef R
#define R 1
#endif
#define REQUEST 0
#define REPLY 1
#define RELEASE 2
#define LINK(from, to) link[(from) * N + (to)]
#define TICK(k) if :: k >= clock -> clock = k + 1 :: else -> clock++ fi

chan link[N * N] = [4] of { byte, byte };
byte inside;

#define SEND(what) \
	j = 0; \
	do :: j < N -> if :: j != _pid -> LINK(_pid, j) ! what, clock :: else fi; j++ \
	   :: else -> break od

/* Enters where its request is the first, and all others have been heard of since. */
#define TRY \
	if :: asking && !in -> \
		j = 0; first = 1; \
		do :: j < N -> \
			if :: j != _pid && (heard[j] < request[_pid] || heard[j] == request[_pid] && j < _pid || \
				request[j] > 0 && (request[j] < request[_pid] || request[j] == request[_pid] && j < _pid)) -> first = 0 \
			   :: else fi; j++ \
		   :: else -> break od; \
		if :: first -> in = 1; inside++; assert(inside == 1) :: else fi; first = 0 \
	   :: else fi

#define RECEIVE(from) \
	d_step { nempty(LINK(from, _pid)) -> LINK(from, _pid) ? kind, k; \
		TICK(k); heard[from] = k; \
		if :: kind == REQUEST -> request[from] = k; LINK(_pid, from) ! REPLY, clock \
		   :: kind == RELEASE -> request[from] = 0 \
		   :: else fi; \
		TRY; j = 0; k = 0; kind = 0 }

active [N] proctype node() {
	byte left = R, clock, j, kind, k;
	bit asking, in, first;
	byte request[N], heard[N];
end:	do
	:: d_step { left > 0 && !asking -> left--; asking = 1; clock++; request[_pid] = clock; SEND(REQUEST); TRY; j = 0 }
	:: d_step { in -> in = 0; inside--; asking = 0; request[_pid] = 0; clock++; SEND(RELEASE); j = 0 }
	:: RECEIVE(0)
	:: RECEIVE(1)
#if N > 2
	:: RECEIVE(2)
#endif
	od
}
