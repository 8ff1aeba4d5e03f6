#!/usr/bin/env bash
# Makes what a NATS server and those who connect to it need of each other: the
# server's certificate, and credentials for --creds. For compose.yaml and kubernetes/;
# `dmebench broker` makes its own. Needs openssl.
set -euo pipefail

if [ $# -lt 2 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	cat >&2 <<'END'
usage: secrets.sh DIR NAME...

Makes in DIR, for a NATS server that is reached by the NAMEs (host names and IP
addresses):

  creds           for the server's clients: a token, and the authority to trust;
                  whoever has it can use the agents
  token.conf      the token for the server's configuration
  server.pem      the server's certificate, for two years
  server-key.pem  its key

The authority's key is thrown away. What there is already in DIR is kept; remove
DIR for a new authority and a new token.
END
	exit 64
fi

dir=$1
shift
if [ -e "$dir/creds" ]; then
	echo "secrets.sh: $dir has secrets already, and they are kept; remove it for new ones" >&2
	exit 0
fi

# All or nothing: a folder that was left half full would be taken for a full one.
umask 077
mkdir -p "$dir"
new=$dir/.new.$$
mkdir "$new"
trap 'rm -rf "$new"' EXIT

names=()
for name in "$@"; do
	if [[ $name =~ ^[0-9.]+$ || $name = *:* ]]; then
		names+=("IP:$name")
	elif [[ $name =~ ^[A-Za-z0-9.*_-]+$ ]]; then
		names+=("DNS:$name")
	else
		echo "secrets.sh: '$name' is neither a host name nor an IP address" >&2
		exit 64
	fi
done
alternatives=$(IFS=, && echo "${names[*]}")

elliptic=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${elliptic[@]}" -keyout "$new/ca-key.pem" -out "$new/ca.pem" -days 730 \
	-subj "/CN=dmebench testbed authority" -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
	-addext keyUsage=critical,keyCertSign 2>"$new/errors" || { cat "$new/errors" >&2 && exit 1; }
openssl req "${elliptic[@]}" -keyout "$new/server-key.pem" -out "$new/server.csr" \
	-subj "/CN=dmebench testbed NATS" 2>"$new/errors" || { cat "$new/errors" >&2 && exit 1; }
openssl x509 -req -in "$new/server.csr" -CA "$new/ca.pem" -CAkey "$new/ca-key.pem" -CAcreateserial \
	-out "$new/server.pem" -days 730 -extfile <(
		echo "subjectAltName=$alternatives"
		echo "basicConstraints=critical,CA:FALSE"
		echo "keyUsage=critical,digitalSignature"
		echo "extendedKeyUsage=serverAuth"
	) 2>"$new/errors" || { cat "$new/errors" >&2 && exit 1; }
token=$(openssl rand -hex 32)
printf 'token: "%s"\n' "$token" >"$new/token.conf"
{
	echo "-----BEGIN DMEBENCH TOKEN-----"
	printf %s "$token" | openssl base64
	echo "-----END DMEBENCH TOKEN-----"
	cat "$new/ca.pem"
} >"$new/creds"

# The clients' file comes last: it is what says that all is there.
mv "$new"/{server.pem,server-key.pem,token.conf} "$dir"
mv "$new/creds" "$dir"
echo "made $dir/{creds,token.conf,server.pem,server-key.pem} for $*"
