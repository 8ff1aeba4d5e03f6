#!/usr/bin/env bash
# Gives the module another path, for whoever hosts it: a path without a dot in its
# first part, as the one that it comes with, cannot be fetched.
#
#   scripts/rename-module.sh example.org/you/dmebench [DIR]    default: this clone
#
# It rewrites the module's name in go.mod files, imports, documentation and scripts
# of DIR, and nothing else: the program, its folders and its packages keep their
# names. Commit before, and look at the difference afterwards. Then
#
#   go install example.org/you/dmebench/cmd/dmebench@latest
#
# works for everybody, once it is pushed with a tag such as v1.0.0.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: scripts/rename-module.sh example.org/you/dmebench [DIR]" >&2
	exit 64
fi
new=$1
cd "${2:-$(dirname "$0")/..}"
if ! [[ $new =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$ ]]; then
	echo "rename-module.sh: '$new' is not a path that can be fetched; want HOST.DOMAIN/PATH, such as example.org/you/dmebench" >&2
	exit 64
fi
old=$(sed -n 's/^module //p' go.mod)
if [ "$old" = "$new" ]; then
	echo "the module is $new already"
	exit
fi
quoted=${old//./\\.} # for a regular expression

# Folders with packages that others import: MODULE/dme is one within comments and
# strings too, and MODULE/docs a folder of a clone.
folders='algorithms|claims|cmd|dme|internal|report|result|stats|transport|units|workload'

# Imports, which stand alone in a line; names of packages, twice for those that share
# what is between them; requirements in go.mod files, and in the commands that make
# them. Modules within testdata are the tests' own.
find . \( -name .git -o -name testdata -o -path ./results \) -prune -o -type f \
	\( -name '*.go' -o -name go.mod -o -name '*.md' -o -name '*.sh' -o -name 'Dockerfile*' -o -name '*.yaml' -o -name '*.yml' -o -name '*.tmpl' \) \
	! -name rename-module.sh -exec grep -l -e "$quoted" {} + | sort >.candidates
tr '\n' '\0' <.candidates | xargs -0 sed -E -i.before \
	-e "s#^((import|[[:space:]])[[:space:]]*([A-Za-z_.][A-Za-z0-9_]*[[:space:]]+)?\")$quoted((/[^\"]*)?\"[[:space:]]*(//.*)?)\$#\1$new\4#" \
	-e "s#^(//.*\")$quoted((/[^\"]*)?\")\$#\1$new\2#" \
	-e "s#(^|[^A-Za-z0-9_./-])$quoted/($folders)([^A-Za-z0-9_:-]|\$)#\1$new/\2\3#g" \
	-e "s#(^|[^A-Za-z0-9_./-])$quoted/($folders)([^A-Za-z0-9_:-]|\$)#\1$new/\2\3#g" \
	-e "s#^(module[[:space:]]+)$quoted(/|\$)#\1$new\2#" \
	-e "s#(^|[[:space:]])(require[[:space:]]+|-require[ =]|replace[[:space:]]+|-replace[ =])$quoted([ @=])#\1\2$new\3#g" \
	-e "s#^([[:space:]]+)$quoted( v[0-9])#\1$new\2#"
tr '\n' '\0' <.candidates | xargs -0 grep -l -F -e "$new" >.renamed
while IFS= read -r file; do rm "$file.before"; done <.candidates
if command -v gofmt >/dev/null; then # imports are sorted by their paths
	grep '\.go$' .renamed | tr '\n' '\0' | xargs -0 gofmt -w
fi
echo "$(wc -l <.renamed | tr -d ' ') files name $new in place of $old; 'go build ./...' shows whether all is well"
rm .renamed .candidates
