#!/usr/bin/env bash
# Builds the program for others to download: static binaries for Linux and macOS on
# amd64 and arm64, which know their version and commit, and their checksums.
#
#   scripts/release.sh VERSION [DIR]     such as: scripts/release.sh v1.2.0 dist
#
# The same commit gives the same bytes wherever it is built with the same version of
# Go: nothing of the host is in them. PLATFORMS="linux/amd64" builds fewer.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ] || ! [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$ ]]; then
	echo "usage: scripts/release.sh VERSION [DIR], with a version such as v1.2.0" >&2
	exit 64
fi
version=$1
out=${2:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
root=$PWD

if ! commit=$(git rev-parse --verify HEAD); then
	echo "release.sh: there is no git repository with a commit here; a release is built from one" >&2
	exit 69
fi
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	echo "release.sh: files are changed and not committed, see 'git status'; commit them, or 'git stash', and build again" >&2
	exit 69
fi
time=$(TZ=UTC git show -s --no-show-signature --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd "$commit")
module=$(sed -n 's/^module //p' go.mod)

# The playground is compiled once, and every binary carries it.
page=$root/internal/playground/page/compiled/page.html
rm -f "$page"
trap 'rm -f "$page"' EXIT
GOFLAGS= go run ./cmd/dmebench playground --out "$page" >/dev/null

built=()
for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}; do
	name=dmebench-$version-${platform%/*}-${platform#*/}
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} GOFLAGS= go build -trimpath -buildvcs=false \
		-ldflags "-s -w -buildid= -X $module/internal/platform/environment.stamp=$version,$commit,$time,clean" \
		-o "$out/$name" ./cmd/dmebench
	built+=("$name")
	echo "$out/$name"
done
cd "$out"
if command -v sha256sum >/dev/null; then
	sha256sum "${built[@]}" >SHA256SUMS
else
	shasum -a 256 "${built[@]}" >SHA256SUMS
fi
echo "$out/SHA256SUMS"
