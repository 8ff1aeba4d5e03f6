#!/usr/bin/env bash
# Compares exhaustive searches with SPIN's, in processor seconds on one core: the same
# algorithms in Promela, with channels and one d_step for each handler, compiled with -O3.
# Needs spin and a C compiler (Debian: spin, gcc). The argument is the number of repetitions.
set -euo pipefail
for tool in spin gcc; do
	command -v $tool >/dev/null || { echo "spin.sh: $tool is not installed" >&2; exit 1; }
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$work/dmebench" ./cmd/dmebench) # as releases are
cd "$work"

seconds() { # of the processor, that a command takes
	local TIMEFORMAT='%U %S'
	{ time "$@" >out 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
median() { sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%-22s %12s %7s %16s %7s %7s\n' "nodes × requests each" "SPIN, states" "s" "dmebench, states" "s" "ratio"
while read -r algorithm nodes each; do
	mkdir "$algorithm-$nodes-$each"
	(cd "$algorithm-$nodes-$each" && spin -a "-DN=$nodes" "-DR=$each" "$here/$algorithm.pml" >/dev/null && gcc -O3 -DSAFETY -w -o pan pan.c)
	: >spin.s; : >dmebench.s
	for _ in $(seq "${1:-5}"); do
		seconds "./$algorithm-$nodes-$each/pan" -m1000000 -w22 >>spin.s
		grep -q 'errors: 0' out
		theirs=$(awk '/states, stored/ { print $1 }' out)
		seconds env GOMAXPROCS=1 ./dmebench check "$algorithm" -n "$nodes" --requests $((nodes * each)) --exhaustive --quiet >>dmebench.s
		ours=$(awk '/^states/ { sub(",", "", $2); print $2 }' out)
	done
	x=$(median <spin.s) y=$(median <dmebench.s)
	printf '%-22s %13s %7.2f %16s %7.2f %7.2f\n' "$algorithm $nodes×$each" "$theirs" "$x" "$ours" "$y" "$(awk "BEGIN { print $x / $y }")"
done <<'CASES'
ricart-agrawala 3 2
ricart-agrawala 3 3
ricart-agrawala 3 5
ricart-agrawala 4 1
lamport 3 1
CASES
