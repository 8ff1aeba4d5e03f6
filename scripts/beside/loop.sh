#!/usr/bin/env bash
# Compares simulations with loop.cpp, a plain event loop that does nothing else, in
# messages per processor second on one core. Needs a C++ compiler (Debian: g++). The
# argument is the number of repetitions, which take turns.
set -euo pipefail
command -v g++ >/dev/null || { echo "loop.sh: g++ is not installed" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/dmebench" ./cmd/dmebench)
g++ -O3 -o "$work/loop" "$here/loop.cpp"
cd "$work"

seconds() { # of the processor, that a command takes
	local TIMEFORMAT='%U %S'
	{ time "$@" >out 2>err; } 2>&1 | awk '{ print $1 + $2 }'
}
median() { sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%-26s %12s %14s %12s %7s\n' "algorithm, nodes" "messages" "loop, M/s" "dmebench" "ratio"
while read -r ours theirs nodes entries; do
	: >loop.s; : >dmebench.s
	for _ in $(seq "${1:-5}"); do
		seconds ./loop "$theirs" "$nodes" $((10 * entries)) >>loop.s # ten times as many, to take as long
		many=$(cat out)
		seconds env GOMAXPROCS=1 ./dmebench run "$ours" -n "$nodes" --transport sim --cs 0s --requests "$entries" --json --quiet >>dmebench.s
		messages=$(awk '/"messages": {/ { inside = 1 } inside && /"total"/ { sub(",", "", $2); print $2; exit }' out)
	done
	x=$(awk "BEGIN { print $many / $(median <loop.s) / 1e6 }") y=$(awk "BEGIN { print $messages / $(median <dmebench.s) / 1e6 }")
	printf '%-26s %12s %14.1f %12.2f %7.3f\n' "$ours, $nodes" "$messages" "$x" "$y" "$(awk "BEGIN { print $y / $x }")"
done <<'CASES'
ricart-agrawala ricart-agrawala 64 100000
token-ring ring 64 2000000
CASES
