#!/usr/bin/env bash
# Compares simulations with two programs that do the same and nothing else, in messages per
# processor second on one core: loop.cpp, a plain event loop, and simgrid.cpp, for SimGrid
# (Debian: libsimgrid-dev). Needs a C++ compiler (Debian: g++). The argument is the number of
# repetitions, which take turns.
set -euo pipefail
command -v g++ >/dev/null || { echo "simulators.sh: g++ is not installed" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$work/dmebench" ./cmd/dmebench) # as releases are
g++ -O3 -o "$work/loop" "$here/loop.cpp"
g++ -O3 -o "$work/simgrid" "$here/simgrid.cpp" -lsimgrid 2>"$work/err" ||
	echo "without SimGrid: $(tail -n 1 "$work/err")" >&2
cd "$work"

seconds() { # of the processor, that a command takes
	local TIMEFORMAT='%U %S'
	{ time "$@" >out 2>err; } 2>&1 | awk '{ print $1 + $2 }'
}
median() { sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%-9s %-34s %12s %11s %14s %7s\n' "" "algorithm, nodes, delays" "messages" "theirs, M/s" "dmebench, M/s" "ratio"
while read -r program theirs many ours nodes entries delay; do
	[ -x "$program" ] || continue
	: >theirs.s; : >dmebench.s
	for _ in $(seq "${1:-5}"); do
		seconds "./$program" "$theirs" "$nodes" "$many" "${delay/constant/--cfg=network/model:Constant}" >>theirs.s
		sent=$(tail -n 1 out)
		seconds env GOMAXPROCS=1 ./dmebench run "$ours" -n "$nodes" --transport sim --cs 0s --set delay="$delay" --requests "$entries" --json --quiet >>dmebench.s
		messages=$(awk '/"messages": {/ { inside = 1 } inside && /"total"/ { sub(",", "", $2); print $2; exit }' out)
	done
	x=$(awk "BEGIN { print $sent / $(median <theirs.s) / 1e6 }") y=$(awk "BEGIN { print $messages / $(median <dmebench.s) / 1e6 }")
	printf '%-9s %-34s %12s %11.2f %14.2f %7.2f\n' "$program" "$ours, $nodes, $delay" "$messages" "$x" "$y" "$(awk "BEGIN { print $y / $x }")"
done <<'CASES'
loop ricart-agrawala 1000000 ricart-agrawala 64 100000 constant
loop ricart-agrawala 200000 ricart-agrawala 64 100000 exponential
loop ring 20000000 token-ring 64 2000000 constant
simgrid ricart-agrawala 5000 ricart-agrawala 64 100000 constant
simgrid ring 500000 token-ring 64 2000000 constant
CASES
