#!/bin/sh
# One throw-away PostgreSQL cluster: cluster.sh <folder of the binaries> <port> <fsync>
# It lives as long as its standard input stays open. The kernel closes that pipe when the
# starting process ends in any way, kill -9 included, so nothing is ever left behind.
bin=$1
port=$2
fsync=$3
exec 3<&0 # a command in the background gets /dev/null as its standard input
base=${TMPDIR:-/tmp}
# What need not outlive the machine lives in memory where that is large: to make and remove the six hundred files of a database
# costs a tenth there.
if [ "$fsync" = off ] && [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'END { print $4 }')" -gt 8000000 ]; then
	base=/dev/shm
fi
[ ${#base} -lt 70 ] || base=/tmp # the path of a socket has 100 bytes
dir=$(mktemp -d "$base/tillwright-postgres.XXXXXX") || exit 1
echo "$dir"
server=

stop() {
	[ -n "$server" ] && kill -QUIT "$server" 2>/dev/null && wait "$server" 2>/dev/null
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

fail() {
	cat "$dir/log" >&2
	exit 1
}

"$bin/initdb" -D "$dir/data" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync \
	>"$dir/log" 2>&1 </dev/null || fail

# Everything is as cheap as it gets. Whoever is told of a commit finds it, whichever process dies; without fsync it would not outlive the
# machine. With it, a database of a test costs twice the time, and its removal, which is a checkpoint, waits for hundreds of files.
# Nobody helps to run a plan: to start two processes takes twenty times as long as to read small tables. And what a connection prepares is planned
# once, for any arguments, which is a sixth of the work less. A plan for a call's own arguments is seen by tests of plans, which ask for each kind,
# and on a durable cluster, which plans as any other.
plans=auto
[ "$fsync" = on ] || plans=force_generic_plan
"$bin/postgres" -D "$dir/data" -p "$port" \
	-c listen_addresses=127.0.0.1 -c unix_socket_directories="$dir" -c max_connections=600 \
	-c fsync="$fsync" -c synchronous_commit=on -c full_page_writes=off \
	-c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=1GB -c checkpoint_timeout=30min \
	-c shared_buffers=256MB -c max_parallel_workers=0 -c plan_cache_mode="$plans" -c logging_collector=off \
	>"$dir/log" 2>&1 </dev/null &
server=$!

# The lifeline in the background, the server in the foreground: whichever ends first ends the other.
# A server that is just starting may not hear the signal yet, hence the loop.
(
	cat <&3 >/dev/null
	while kill -QUIT "$server" 2>/dev/null; do sleep 0.1; done
) 2>/dev/null &
wait "$server"
server=
cat "$dir/log" >&2
