#!/usr/bin/env bash
# Compares Lamport's algorithm over TCP with the C program of DistAlgo's benchmarks (processes of
# one host whose messages pass a server), by turns, in critical sections per second. Its sockets
# get TCP_NODELAY, without which they are slower. Needs a C compiler and a clone of
# https://github.com/DistAlgo/distalgo, which the first argument names; the second is the number
# of repetitions.
set -euo pipefail
clone=${1:?distalgo.sh: which clone of DistAlgo/distalgo?}
source=$clone/benchmarks/lamutex/C/lamport.c
[ -f "$source" ] || { echo "distalgo.sh: $source is not there" >&2; exit 1; }
command -v gcc >/dev/null || { echo "distalgo.sh: gcc is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$(dirname "$0")/../.." && CGO_ENABLED=0 go build -o "$work/dmebench" ./cmd/dmebench) # as releases are
cat >"$work/nodelay.h" <<'C'
#include <stdint.h>
#include <sys/time.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
static int nodelay(int fd) {
	int on = 1;
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}
static int connect_nodelay(int fd, const struct sockaddr *a, socklen_t n) { return connect(nodelay(fd), a, n); }
static int accept_nodelay(int fd, struct sockaddr *a, socklen_t *n) { return nodelay(accept(fd, a, n)); }
#define connect connect_nodelay
#define accept accept_nodelay
C
gcc -O3 -std=gnu99 -D_GNU_SOURCE -fms-extensions -w -include "$work/nodelay.h" -o "$work/lamport" "$source"
cd "$work"

theirs() { # critical sections per second of $1 processes, $2 each
	./lamport "$1" "$2" | awk -v all=$(($1 * $2)) 'match($0, /"Wallclock_time": [0-9.]+/) { print all / substr($0, RSTART + 18, RLENGTH - 18) }'
}
ours() {
	./dmebench run lamport -n "$1" --requests $(($1 * $2)) --cs 0s --quiet --json | awk -F'[:,]' '/"throughput_cs_per_s"/ { print $2 + 0 }'
}
median() { sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%-10s %14s %16s %7s\n' processes "DistAlgo, CS/s" "dmebench, CS/s" ratio
while read -r n each; do
	: >theirs.s; : >ours.s; : >ratio.s
	for k in $(seq "${2:-10}"); do
		if ((k % 2)); then x=$(theirs "$n" "$each") y=$(ours "$n" "$each"); else y=$(ours "$n" "$each") x=$(theirs "$n" "$each"); fi
		echo "$x" >>theirs.s; echo "$y" >>ours.s
		awk "BEGIN { print $y / $x }" >>ratio.s
	done
	printf '%-10d %14.0f %16.0f %7.2f\n' "$n" "$(median <theirs.s)" "$(median <ours.s)" "$(median <ratio.s)"
done <<'CASES'
3 3000
9 500
25 100
CASES
