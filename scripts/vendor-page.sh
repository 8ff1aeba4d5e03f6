#!/usr/bin/env bash
# Renews the libraries of the page of a report from npm, or checks that those that are
# there are what npm has.
#
#   scripts/vendor-page.sh           writes report/page/vendor
#   scripts/vendor-page.sh --check   compares, and writes nothing
#
# Needs npm. The files that are taken, and the versions, stand below.
set -euo pipefail
cd "$(dirname "$0")/.."

# package version: file in the package, name below report/page/vendor; and its licence
packages() {
	cat <<-END
		d3 7.9.0 dist/d3.min.js d3.min.js
		@observablehq/plot 0.6.17 dist/plot.umd.min.js plot.min.js
		interval-tree-1d 1.0.4 - -
		binary-search-bounds 2.0.5 - -
		isoformat 0.2.1 - -
		axe-core 4.14.1 axe.min.js ../testdata/axe.min.js
	END
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out="$work/out"
mkdir -p "$out/vendor" "$out/testdata"

echo "# Libraries of the page, from npm by scripts/vendor-page.sh: package, version, licence, file, SHA-256." >"$out/vendor/versions.txt"
while read -r package version file name; do
	folder="$work/${package//\//-}"
	mkdir -p "$folder"
	(cd "$folder" && npm pack --silent "$package@$version" >/dev/null && tar xzf ./*.tgz)
	licence=$(sed -n 's/^ *"license": *"\([^"]*\)".*/\1/p' "$folder/package/package.json" | head -n 1)
	sum=-
	if [ "$file" != - ]; then
		cp "$folder/package/$file" "$out/vendor/$name"
		sum=$(sha256sum "$out/vendor/$name" | cut -d' ' -f1)
	fi
	cp "$folder/package/LICENSE" "$out/vendor/LICENSE-${package##*/}"
	echo "$package $version $licence $name $sum" >>"$out/vendor/versions.txt"
done < <(packages)
# axe-core is used by tests alone.
mv "$out/vendor/LICENSE-axe-core" "$out/testdata/"

if [ "${1:-}" = --check ]; then
	diff -r "$out/vendor" report/page/vendor
	for f in "$out"/testdata/*; do cmp "$f" "report/page/testdata/${f##*/}"; done
	echo "report/page/vendor is what npm has"
else
	mkdir -p report/page/testdata
	rm -rf report/page/vendor
	cp -r "$out/vendor" report/page/vendor
	cp "$out"/testdata/* report/page/testdata/
fi
