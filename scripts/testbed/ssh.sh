#!/usr/bin/env bash
# Runs an agent on each host of a list, over ssh: copies the program, the authority's
# certificate and the token, and starts, shows and stops agents. Needs bash, ssh and
# tar here, and sh and tar on the hosts.
set -euo pipefail

usage() {
	cat <<'END'
usage: ssh.sh HOSTSFILE start --nats-url URL --dir DIR [--program FILE]
       ssh.sh HOSTSFILE status | log | stop | remove

  start    copy the program and DIR/creds to the hosts, and start agents
           that join the NATS server at URL; what ran there before is stopped.
           DIR is that of `dmebench broker --dir DIR`, or of secrets.sh. Without
           --program the program is built from this repository, for Linux on the
           processor of this host (GOARCH=arm64 in the environment: for another)
  status   say which agents run
  log      print the last lines that each agent has logged
  stop     stop the agents; their workers end with them
  remove   stop them, and remove what was copied

HOSTSFILE has a host a line: what ssh is to connect to (a name of ~/.ssh/config,
USER@HOST, or ssh://USER@HOST:PORT), and after it flags for its agent, if any, such
as --label rack=a or --address 10.0.0.7. Lines that begin with # are left out.

ssh has to get in without asking: with a key, an agent of ssh, or ~/.ssh/config. Hosts
that are not in known_hosts are refused. SSH_CONFIG=FILE has ssh read FILE in place
of ~/.ssh/config. On the hosts all is in ~/.dmebench-agent.
END
}

die() { printf 'ssh.sh: %s\n' "$*" >&2 && exit 1; }
bad() { printf 'ssh.sh: %s\n' "$*" >&2 && exit 64; }

case ${1:-} in
"" | -h | --help | help) usage && exit ;;
esac
[ -r "$1" ] || bad "cannot read the list of hosts $1; ssh.sh --help says what is in it"
hostsfile=$1
command=${2:-}
[ -n "$command" ] || bad "want start, status, log, stop or remove after $hostsfile"
shift 2

connect=(ssh -o BatchMode=yes -o ConnectTimeout=10)
if [ -n "${SSH_CONFIG:-}" ]; then connect+=(-F "$SSH_CONFIG"); fi

# quote writes its arguments as words for sh, whatever is in them.
quote() {
	local word single=\' escaped=\'\\\'\'
	for word in "$@"; do
		printf " '%s'" "${word//$single/$escaped}"
	done
}

hosts=() flags=() # of each host's agent, quoted
while read -ra words || [ ${#words[@]} -gt 0 ]; do
	if [ ${#words[@]} = 0 ] || [[ ${words[0]} = '#'* ]]; then continue; fi
	[[ ${words[0]} != -* ]] || bad "$hostsfile: a line begins with the host, not with ${words[0]}"
	hosts+=("${words[0]}")
	flags+=("$(quote "${words[@]:1}")")
done <"$hostsfile"
[ ${#hosts[@]} -gt 0 ] || bad "$hostsfile names no host"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What the hosts run. It goes there by standard input: whatever shell they log in
# with reads no more of it than "exec sh -s".
# shellcheck disable=SC2016 # what is to be expanded there is not here
functions='
set -eu
cd
mkdir -p .dmebench-agent
chmod 700 .dmebench-agent
cd .dmebench-agent

# Unlike echo, it leaves backslashes alone.
say() { printf "%s\n" "$1"; }

# A service of the user outlives the login only where that is switched on.
managed() {
	command -v systemd-run >/dev/null && systemctl --user show-environment >/dev/null 2>&1 &&
		[ "$(loginctl show-user --property=Linger --value "$(id -un)" 2>/dev/null)" = yes ]
}

# pid prints the number of the agent that runs; numbers of processes come again, and
# one of another program is not it.
pid() {
	p=$(systemctl --user show --property=MainPID --value dmebench-agent 2>/dev/null || true)
	[ "${p:-0}" != 0 ] || p=$(cat agent.pid 2>/dev/null) || return 1
	# The number of a process that has ended but is still in the table matches neither.
	case $(ps -o args= -p "$p" 2>/dev/null || tr "\0" " " 2>/dev/null <"/proc/$p/cmdline") in
	*dmebench*agent*) echo "$p" ;;
	*) return 1 ;;
	esac
}

stop() {
	p=$(pid) || return 0
	systemctl --user stop dmebench-agent 2>/dev/null || true
	kill "$p" 2>/dev/null || true
	tries=0
	while pid >/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || kill -9 "$p" 2>/dev/null || true
		[ $tries -lt 110 ] || { echo "the agent, process $p, does not end" >&2; return 1; }
		sleep 0.1
	done
	rm -f agent.pid
}

start() {
	: >agent.log
	if managed; then
		systemd-run --user --quiet --collect --unit=dmebench-agent --working-directory="$PWD" --property=Restart=on-failure \
			--property=LimitNOFILE=65536 --property="StandardError=append:$PWD/agent.log" \
			"$PWD/dmebench" agent "$@"
	else
		# setsid: a terminal that goes away does not take it along.
		separate=$(command -v setsid || echo nohup)
		# The shell becomes the agent: the number is that of both.
		"$separate" sh -c "echo \$\$ >agent.pid && exec ./dmebench agent \"\$@\"" sh "$@" </dev/null >/dev/null 2>>agent.log &
	fi
	tries=0
	until grep -q ": ready at " agent.log; do
		tries=$((tries + 1))
		if [ $tries -gt 10 ] && ! pid >/dev/null; then
			say "the agent has ended: $(tail -n 1 agent.log)" >&2
			return 1
		fi
		if [ $tries -ge 150 ]; then
			say "the agent, process $(pid), has not joined yet: $(tail -n 1 agent.log)" >&2
			return 1
		fi
		sleep 0.1
	done
	say "started, process $(pid): $(grep ": ready at " agent.log | tail -n 1)"
}
'

# remotely runs lines for sh on a host, after the functions above. All is read before
# any of it is run, and nothing that runs reads it away.
remotely() { printf '%s\nmain() {\n%s\n}\nmain </dev/null\n' "$functions" "$2" | "${connect[@]}" "$1" 'exec sh -s'; }

# What is done for each host, whose number is the argument.
# shellcheck disable=SC2016
{
	do_start() {
		local host=${hosts[$1]}
		remotely "$host" stop
		"${connect[@]}" "$host" 'exec sh -c "cd && cd .dmebench-agent && umask 077 && tar xzof -"' <"$scratch/files.tar.gz"
		remotely "$host" './dmebench help >/dev/null || {
			echo "the program does not run here, on $(uname -sm); build one that does, and name it by --program" >&2
			exit 1
		}'
		remotely "$host" "start --nats-url$(quote "$url") --creds creds ${flags[$1]}"
	}
	do_status() {
		remotely "${hosts[$1]}" 'if p=$(pid); then
			say "runs, process $p: $(tail -n 1 agent.log)"
		else
			echo "does not run"
			exit 1
		fi'
	}
	do_log() { remotely "${hosts[$1]}" 'tail -n 20 agent.log'; }
	do_stop() { remotely "${hosts[$1]}" 'stop && echo stopped'; }
	do_remove() { remotely "${hosts[$1]}" 'stop && cd && rm -r .dmebench-agent && echo removed'; }
}

# each does it for all hosts at once, and prints what they said in their order.
each() {
	local i failed=0 pids=()
	for i in "${!hosts[@]}"; do
		"$1" "$i" >"$scratch/$i" 2>&1 &
		pids+=($!)
	done
	for i in "${!hosts[@]}"; do
		wait "${pids[$i]}" || failed=1
		while IFS= read -r line; do
			printf '%s: %s\n' "${hosts[$i]}" "$line"
		done <"$scratch/$i"
	done
	return $failed
}

case $command in
start)
	url='' dir='' program=''
	while [ $# -gt 0 ]; do
		[ $# -gt 1 ] || bad "$1 needs a value"
		case $1 in
		--nats-url) url=$2 ;;
		--dir) dir=$2 ;;
		--program) program=$2 ;;
		*) bad "start has no $1; ssh.sh --help lists its flags" ;;
		esac
		shift 2
	done
	[ -n "$url" ] || bad "--nats-url is missing: where the agents join, such as tls://10.0.0.1:4222"
	[[ -r $dir/creds ]] || bad "--dir needs the folder that has creds, not '$dir'"
	if [ -z "$program" ]; then
		program=$scratch/built
		(cd "$(dirname "$0")/../.." && CGO_ENABLED=0 GOOS=linux go build -trimpath -ldflags=-s -o "$program" ./cmd/dmebench) ||
			die "cannot build the program; name one by --program"
	fi
	[ -f "$program" ] || bad "--program: there is no file $program"
	mkdir "$scratch/files"
	install -m 0755 "$program" "$scratch/files/dmebench"
	install -m 0600 "$dir/creds" "$scratch/files"
	tar cf - -C "$scratch/files" dmebench creds | gzip -1 >"$scratch/files.tar.gz"
	each do_start
	;;
status | log | stop | remove)
	[ $# = 0 ] || bad "$command takes nothing after it"
	each "do_$command"
	;;
*) bad "there is no command '$command'; want start, status, log, stop or remove" ;;
esac
