#!/usr/bin/env bash
# Renews the libraries of the page of a report from npm, and axe-core, with which tests
# look for what keeps people out; or checks that those that are there are what npm has.
#
#   scripts/vendor-page.sh           writes report/page/vendor and internal/testkit/axe
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
		axe-core 4.14.1 axe.min.js axe.min.js
	END
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/page" "$work/axe"

heading="# From npm, by scripts/vendor-page.sh: package, version, licence, file, SHA-256."
for folder in page axe; do echo "$heading" >"$work/$folder/versions.txt"; done
while read -r package version file name; do
	out="$work/page"
	[ "$package" = axe-core ] && out="$work/axe"
	folder="$work/packages/$package"
	mkdir -p "$folder"
	(cd "$folder" && npm pack --silent "$package@$version" >/dev/null && tar xzf ./*.tgz)
	licence=$(sed -n 's/^ *"license": *"\([^"]*\)".*/\1/p' "$folder/package/package.json" | head -n 1)
	sum=-
	if [ "$file" != - ]; then
		cp "$folder/package/$file" "$out/$name"
		sum=$(sha256sum "$out/$name" | cut -d' ' -f1)
	fi
	cp "$folder/package/LICENSE" "$out/LICENSE-${package##*/}"
	echo "$package $version $licence $name $sum" >>"$out/versions.txt"
done < <(packages)

if [ "${1:-}" = --check ]; then
	diff -r "$work/page" report/page/vendor
	diff -r "$work/axe" internal/testkit/axe
	echo "the libraries are what npm has"
else
	rm -rf report/page/vendor internal/testkit/axe
	cp -r "$work/page" report/page/vendor
	cp -r "$work/axe" internal/testkit/axe
fi
