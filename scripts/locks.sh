#!/bin/sh
# Measures the lock services of the folder baselines, and three algorithms beside them, by
# the experiments of experiments/locks: about 25 minutes on two cores. What is done already
# is not done again. The argument is the folder for results.
set -eu
cd "$(dirname "$0")/.."
out=${1:-results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
program=$(mktemp -d)/dmebench
trap 'rm -rf "$(dirname "$program")"' EXIT
(cd baselines && go build -o "$program" ./cmd/dmebench)
for what in nodes inside distance faults; do
	# Violations are what faults are there to show.
	"$program" sweep "experiments/locks/$what.yaml" --out "$out" || [ "$what" = faults ]
done
