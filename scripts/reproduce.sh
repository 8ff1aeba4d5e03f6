#!/usr/bin/env bash
# Measures the reference data again, in five to ten minutes on two cores:
#
#   scripts/reproduce.sh [DIR]      default: results/reproduced
#
# Afterwards compare with what is committed, say
#
#   dmebench compare results/reference/growth results/reproduced/growth
#
# Messages per critical section must agree, times need not: they are another
# machine's. Ctrl-C keeps what is finished; the same command continues.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-results/reproduced}

for experiment in growth load; do
	go run ./cmd/dmebench sweep --file "experiments/$experiment.yaml" --out "$out"
done
