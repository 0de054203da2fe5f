#!/bin/sh
# Reduces /app to some workspaces of npm, which are the arguments after the verb:
#   install: installs their production dependencies for $TARGETARCH, also on a machine with another processor;
#   keep: removes all other workspaces, what only npm needs, and what only people and editors read: source maps, types, documents. Licences stay.
set -eu
verb=$1
shift

case $verb in
install)
  case $TARGETARCH in
  amd64) cpu=x64 ;;
  *) cpu=$TARGETARCH ;;
  esac
  selected=$(printf -- '--workspace=%s ' "$@")
  # No package runs a script: the native ones come built.
  # shellcheck disable=SC2086
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --cpu="$cpu" --libc=glibc $selected
  ;;
keep)
  for folder in packages/* services/* infra/* test; do
    case " $* services/start.ts " in
    *" $folder "*) ;;
    *) rm -rf "$folder" ;;
    esac
  done
  find . -path '*/node_modules/*' -type f ! -iname 'licen[cs]e*' \
    \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -delete
  rm -f package-lock.json .npmrc node_modules/.package-lock.json
  rmdir infra 2>/dev/null || true
  ;;
esac
