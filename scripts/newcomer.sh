#!/usr/bin/env bash
# Times what a newcomer does by the README and chapters 3 and 5 of the guide, in a
# clone of its own with an empty build cache and nothing downloaded yet:
#
#   scripts/newcomer.sh [DIR]       default: a new folder that is removed at the end
#
# It prints seconds of the clock and of the processors: the former are what a person
# waits, the latter do not depend on what else the machine does. Reading and typing
# come on top.
set -euo pipefail
exec 2>&1 # times and words in their order
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-}
if [ -n "$dir" ]; then
	mkdir "$dir"
	kept=yes
else
	dir=$(mktemp -d)
	kept=
fi

# What a step printed is shown where it fails.
finish() {
	if [ $? -ne 0 ]; then cat "$dir/output.txt"; fi
	if [ -z "$kept" ]; then rm -rf "$dir"; fi
}
trap finish EXIT
export GOCACHE=$dir/cache GOMODCACHE=$dir/modules GOFLAGS=-modcacherw GOWORK=off

# file PAGE NAME prints the file that a page of the guide tells its reader to save.
file() {
	awk -v mark="<!-- file: $2 -->" '$0 == mark {f = 1; next} f && /^```/ {if (p) exit; p = 1; next} p' "$dir/dmebench/docs/guide/$1"
}

steps() {
	cd "$dir"
	case $1 in
	"clone to first plot")
		git clone --quiet "$root" dmebench
		cd dmebench
		go run ./cmd/dmebench sweep -f experiments/quickstart.yaml --quiet
		;;
	"own matrix, with an answer")
		cd dmebench
		go build ./cmd/dmebench
		file 3-a-sweep.md mine.yaml >mine.yaml
		./dmebench sweep mine.yaml --quiet
		./dmebench rank results/mine --only nodes=13
		;;
	"own algorithm, tested, searched, plotted")
		mkdir -p courier/courier
		cd courier
		go mod init example.org/courier
		go mod edit -require dmebench@v0.0.0 -replace dmebench=../dmebench
		cp ../dmebench/go.sum .
		for name in main.go courier/courier.go courier/courier_test.go mine.yaml; do
			file 5-your-own-algorithm.md "../courier/$name" >"$name"
		done
		go mod tidy
		go build -o mybench .
		go test ./courier
		./mybench check -a courier -n 3 --requests 6 --exhaustive --fifo=false
		./mybench sweep mine.yaml --quiet
		;;
	esac
}

run() {
	(steps "$1") >"$dir/output.txt" 2>&1
}

TIMEFORMAT='%0R s, of which processors %0U s + %0S s'
for step in "clone to first plot" "own matrix, with an answer" "own algorithm, tested, searched, plotted"; do
	printf '%s: ' "$step"
	time run "$step"
done
