#!/bin/sh
# Measures which algorithm wins where, by the experiments of experiments/study: numbers of nodes
# to a million, load, distance, and structure of sites, all simulated; about 16 minutes on two
# cores. What is done already is not done again. The argument is the folder for results; what
# results/reference/study shows is written to its folder study.
set -eu
out=${1:-results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
program=$(mktemp -d)/dmebench
trap 'rm -rf "$(dirname "$program")"' EXIT
go build -o "$program" ./cmd/dmebench
mkdir -p "$out/study"
for what in load distance sites scale; do
	"$program" sweep "experiments/study/$what.yaml" --out "$out"
done
for metric in p99 messages; do
	"$program" rank "$out/study-scale" --along nodes --metric $metric >"$out/study/scale-$metric.txt"
	"$program" rank "$out/study-load" --along total_rate --metric $metric >"$out/study/load-$metric.txt"
done
"$program" rank "$out/study-distance" --along transport >"$out/study/distance.txt"
"$program" rank "$out/study-sites" --metric throughput --metric waiting_time_p99_ns --metric between_sites_per_cs >"$out/study/sites.txt"
for what in scale load distance; do
	"$program" report "$out/study-$what" --plots --formats svg --out "$out/study/$what"
done
