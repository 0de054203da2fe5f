#!/bin/sh
# keeper.sh DIRECTORY COMMAND [ARGUMENT...]
#
# Runs one command, and ends it when the process that started this script is gone. That process holds the
# other end of this script's standard input, which the system closes even after kill -9. Then DIRECTORY is
# removed too, if given, because no other process is left to do it.
# A JVM does not watch its parent, and Node cannot configure this. This is a shell script, so that it survives
# when all Node processes are killed at the same time.
#
# A line on standard input is the name of a signal for the command. The script ends when the command has.

directory=$1
shift
exec 3<&0
"$@" 3<&- </dev/null &
command=$!

{
  while read -r signal; do kill -"$signal" "$command"; done <&3
  trap '' TERM
  # Other processes without a parent may be finishing their work, and need a broker for it.
  [ -n "$directory" ] || sleep 3
  kill -TERM "$command"
  for _ in 1 2 3 4 5; do
    kill -0 "$command" || break
    sleep 1
  done
  kill -KILL "$command"
  [ -z "$directory" ] || rm -rf "$directory"
} 2>/dev/null &
watcher=$!
exec 3<&-

trap 'kill -TERM "$command" 2>/dev/null' TERM INT HUP
while :; do
  wait "$command"
  status=$?
  kill -0 "$command" 2>/dev/null || break
done
kill "$watcher" 2>/dev/null
wait "$watcher"
exit "$status"
