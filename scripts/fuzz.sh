#!/usr/bin/env bash
# Fuzzes every decoder for the given time each: scripts/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
git grep -l --untracked '^func Fuzz' -- '*_test.go' | while read -r file; do
	package=./$(dirname "$file")
	grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" >"${TMPDIR:-/tmp}/fuzz.txt" 2>&1 || {
			# The end of the time itself, met by a worker between two inputs, is no finding.
			if ! grep -q 'context deadline exceeded' "${TMPDIR:-/tmp}/fuzz.txt" || grep -q 'Failing input' "${TMPDIR:-/tmp}/fuzz.txt"; then
				cat "${TMPDIR:-/tmp}/fuzz.txt"
				exit 1
			fi
		}
	done
done
