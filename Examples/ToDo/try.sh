#!/usr/bin/env bash
# Uses the program once, and compares what it prints.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
todo() { "$program" "$@" --file "$folder/todo.realm"; }
program="$1"
printed="$(
  todo add "Water the plants" --due 2026-12-01 --tag green
  todo add "Paint the fence" --priority 3 --step primer --step colour --tag garden --tag green
  todo add "Read" --priority 1
  todo check 2 1
  todo done 3
  todo remove 1
  todo show --all
  todo show --tag garden
  todo export "$folder/copy.realm" > /dev/null
  todo show --list work
)"
diff - <(echo "$printed") <<'EXPECTED'
home 1: Water the plants
home 2: Paint the fence
home 3: Read
Paint the fence: 1 steps left
done: Read
removed: Water the plants
[ ] 2 Paint the fence ! #garden #green (1/2)
[x] 3 Read
2 of 2
[ ] 2 Paint the fence ! #garden #green (1/2)
1 of 2
There is no list work.
EXPECTED
echo "todo: prints what it should."
