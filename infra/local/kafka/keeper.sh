#!/bin/sh
# keeper.sh DIRECTORY COMMAND [ARGUMENT...]
#
# Runs one command, and ends it when the process that started this script is gone, however it went: that
# process holds the other end of this script's standard input, and the system closes it even on kill -9. Then
# DIRECTORY is removed as well, where it is given, as there is nobody else left to do it.
# A JVM does not look after its parent, and Node cannot ask the system to do it. A shell rather than Node,
# so that ending every Node process at once still leaves someone to end the JVM.
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
  # Others whose parent has gone are finishing their work, and need a broker for it.
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
