#!/bin/sh
# One PgBouncer in transaction mode: pooler.sh <port> <port of the cluster>
# It lives as long as its standard input stays open, as a cluster does. It has four connections for all clients, so that the next
# transaction of a client is likely to meet another one.
PATH=$PATH:/usr/sbin
exec 3<&0
dir=$(mktemp -d "${TMPDIR:-/tmp}/tillwright-pooler.XXXXXX") || exit 1
echo "$dir"
cat >"$dir/ini" <<END
[databases]
* = host=127.0.0.1 port=$2 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $1
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
END
pgbouncer "$dir/ini" >"$dir/log" 2>&1 </dev/null &
server=$!
(
	cat <&3 >/dev/null
	kill -KILL "$server" 2>/dev/null
) 2>/dev/null &
wait "$server"
cat "$dir/log" >&2
rm -rf "$dir"
