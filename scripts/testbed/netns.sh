#!/usr/bin/env bash
# Makes K hosts of this one: Linux network namespaces with addresses of their own
# on a bridge in a namespace of its own. Nothing of this host's network is touched,
# and none of it is reached from there. Needs root, iproute2 and util-linux.
set -euo pipefail

usage() {
	cat <<'END'
usage: netns.sh [--name NAME] COMMAND

  up K           make hosts 1 to K (K <= 200)
  exec I CMD...  run a command on host I
  cut I          take host I's link down
  mend I         take it up again, and wait until it passes frames
  list           print the hosts, their addresses, links and processes
  down [--kill]  end every process on the hosts (--kill: at once), and remove the hosts

Host I is named hI and has the address 10.77.0.I. Testbeds with different NAMEs
(dmebench by default) know nothing of each other.

Links pass everything at once. For slower or worse ones use the program's own
conditions, which are the same on every testbed: dmebench run --set delay=5ms
--set bandwidth=1e6 --set loss=0.01 (dmebench list transports lists all of them).
END
}

die() { printf 'netns.sh: %s\n' "$*" >&2 && exit 1; }

name=dmebench
if [ "${1:-}" = --name ]; then
	name=${2:-}
	shift 2 || die "--name needs a name"
fi
[[ $name =~ ^[A-Za-z0-9][A-Za-z0-9.-]*$ ]] || die "a name has letters, digits, dots and hyphens, not '$name'"
command=${1:-}
[ $# -gt 0 ] && shift

switch=$name-switch
netns=/run/netns         # where ip(8) keeps network namespaces
uts=/run/dmebench-testbed # and this script those of host names

host() { printf '%s-h%d' "$name" "$1"; }

# hosts prints the numbers of the hosts that there are.
hosts() {
	local path i
	for path in "$netns/$name"-h*; do
		i=${path##*-h}
		if [[ $i =~ ^[0-9]+$ && $path = "$netns/$name-h$i" ]]; then echo "$i"; fi
	done | sort -n
}

# is fails unless its argument is a host's number.
is() {
	[[ $1 =~ ^[1-9][0-9]{0,2}$ ]] || die "$command needs a host's number, 1 or above, not '$1'"
	[ -e "$netns/$(host "$1")" ] && return
	[ -n "$(hosts)" ] || die "there are no hosts yet; make some: netns.sh --name $name up 4"
	die "there is no host $1; there are: $(hosts | paste -sd ' ')"
}

needs() {
	[ "$(uname -s)" = Linux ] || die "network namespaces are Linux's; on $(uname -s) use ssh.sh or compose.yaml"
	[ "$(id -u)" = 0 ] || die "making namespaces needs root: sudo $0 $command ..."
	local tool
	for tool in ip nsenter unshare; do
		command -v $tool >/dev/null || die "$tool is missing; on Debian: apt-get install iproute2 util-linux"
	done
}

up() {
	[[ ${1:-} =~ ^[1-9][0-9]{0,2}$ && $1 -le 200 ]] || die "up needs how many hosts to make, 1 to 200, not '${1:-}'"
	if [ -e "$netns/$switch" ] || [ -n "$(hosts)" ]; then
		die "$name is up already; remove it first: netns.sh --name $name down"
	fi
	trap 'down --kill; die "could not make the hosts; what there was of them is removed again"' EXIT
	local i
	ip netns add "$switch"
	ip -n "$switch" link add bridge type bridge
	ip -n "$switch" link set bridge up
	mkdir -p "$uts"
	for ((i = 1; i <= $1; i++)); do
		ip netns add "$(host "$i")"
		ip -n "$(host "$i")" link set lo up
		ip -n "$switch" link add "h$i" type veth peer name eth0 netns "$(host "$i")"
		ip -n "$switch" link set "h$i" master bridge up
		ip -n "$(host "$i")" address add "10.77.0.$i/24" dev eth0
		ip -n "$(host "$i")" link set eth0 up
		: >"$uts/$(host "$i")"
		unshare --uts="$uts/$(host "$i")" hostname "h$i"
	done
	for ((i = 1; i <= $1; i++)); do
		carrier "$i"
	done
	trap - EXIT
}

# carrier waits until the link of a host passes frames: the kernel says so up to a
# second after it was taken up.
carrier() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		if [[ $(ip -n "$(host "$1")" link show eth0) = *'state UP'* ]]; then return; fi
		sleep 0.1
	done
	die "the link of host $1 does not come up"
}

enter() {
	exec nsenter --net="$netns/$(host "$1")" --uts="$uts/$(host "$1")" -- "${@:2}"
}

pids() {
	local i
	for i in $(hosts); do
		ip netns pids "$(host "$i")"
	done
}

down() {
	local i tries signal=TERM
	[ "${1:-}" = --kill ] && signal=KILL
	# Processes may start others while they are being ended.
	for ((tries = 0; tries < 100; tries++)); do
		[ $tries = 50 ] && signal=KILL
		[ -n "$(pids)" ] || break
		# shellcheck disable=SC2046 # one word a process
		kill -s "$signal" $(pids) 2>/dev/null || true
		sleep 0.1
	done
	for i in $(hosts); do
		if [ -e "$uts/$(host "$i")" ]; then
			umount "$uts/$(host "$i")" 2>/dev/null || true
			rm -f "$uts/$(host "$i")"
		fi
		ip netns delete "$(host "$i")"
	done
	if [ -e "$netns/$switch" ]; then ip netns delete "$switch"; fi
}

list() {
	local i link state
	[ -n "$(hosts)" ] || die "there are no hosts; make some: netns.sh --name $name up 4"
	printf '%-5s %-12s %-5s %s\n' HOST ADDRESS LINK PROCESSES
	for i in $(hosts); do
		link=$(ip -n "$switch" link show "h$i")
		state='cut'
		[[ $link = *'state UP'* ]] && state='up'
		printf '%-5s %-12s %-5s %s\n' "h$i" "10.77.0.$i" $state "$(ip netns pids "$(host "$i")" | wc -l)"
	done
}

case $command in
up)
	needs
	up "$@"
	list
	;;
exec)
	needs
	is "${1:-}"
	[ $# -gt 1 ] || die "exec needs a command: netns.sh exec $1 ip address"
	enter "$@"
	;;
cut)
	needs
	is "${1:-}"
	ip -n "$switch" link set "h$1" down
	;;
mend)
	needs
	is "${1:-}"
	ip -n "$switch" link set "h$1" up
	carrier "$1"
	;;
list)
	needs
	list
	;;
down)
	needs
	down "$@"
	;;
"" | -h | --help | help) usage ;;
*)
	usage >&2
	die "there is no command '$command'"
	;;
esac
