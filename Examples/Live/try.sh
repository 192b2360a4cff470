#!/usr/bin/env bash
# Runs the program as two processes, one of which writes and one of which shows that, and compares what is shown.
set -euo pipefail
program="$1"
folder="$(mktemp -d)"
trap 'kill "$watch" 2>/dev/null || true; rm -rf "$folder"' EXIT
live() { "$program" "$@" --file "$folder/live.realm"; }
# Waits until the last line shown is this one.
shown() {
  for _ in $(seq 200); do
    if [ "$(tail -1 "$folder/shown" 2>/dev/null)" = "$1" ]; then return; fi
    sleep 0.05
  done
  echo "live: '$1' is not shown; the last lines are:" >&2
  tail -3 "$folder/shown" >&2
  exit 1
}
live set ACME 1050
live watch --plain --until END > "$folder/shown" &
watch=$!
shown "1 shares"
live set BOLT 99
shown "+ BOLT 0.99"
live set ACME 1100
shown "~ ACME 11.00"
live remove BOLT
shown "- BOLT"
live set END 1
wait "$watch"
diff - "$folder/shown" <<'EXPECTED'
1 shares
+ BOLT 0.99
~ ACME 11.00
- BOLT
+ END 0.01
EXPECTED
echo "live: shows what another process writes."
