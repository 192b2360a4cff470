#!/usr/bin/env bash
# Runs a server and two programs, which change one to-do list at the same time while one of them has no connection, and agree again.
# Ends with 1 where the lists differ, where they are not what they should be, and where an answer takes 10 seconds or all of it 30.
# Leaves no process and no file behind.
set -euo pipefail
program="$1"
server="$2"
folder="$(mktemp -d)"
processes=""

# Ends all that was started, however the script ends.
finish() {
  # A signal may come while `read` has an IFS of its own.
  local status=$? process IFS=" "
  trap - EXIT PIPE
  trap '' INT TERM HUP
  exec 3>&- 4<&- 5>&- 6<&-
  for process in $processes; do kill "$process" 2>/dev/null || true; done
  for process in $processes; do
    ends "$process" || kill -KILL "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$folder"
  exit "$status"
}
# Whether a process ends within three seconds.
ends() {
  for _ in $(seq 30); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
trap 'fail "a program has ended"' PIPE

fail() {
  echo "sync-demo: $1." >&2
  for errors in "$folder"/*.err; do
    if [ -s "$errors" ]; then
      echo "The last lines of $(basename "$errors" .err):" >&2
      tail -5 "$errors" >&2
    fi
  done
  exit 1
}

# Starts a program whose commands and answers go through two pipes.
start() {
  mkfifo "$folder/$1.in" "$folder/$1.out"
  "$program" --server "http://127.0.0.1:$port" --app dev --folder "$folder/$1" --plain \
    < "$folder/$1.in" > "$folder/$1.out" 2> "$folder/$1.err" 3>&- 4<&- 5>&- 6<&- &
  processes="$processes $!"
}

# Sends a command to a program, and prints the answer.
ask() {
  local name="$1" to=3 from=4 line
  shift
  [ "$name" = anna ] || to=5 from=6
  [ "$SECONDS" -lt 30 ] || fail "it takes longer than 30 seconds"
  echo "$*" >&"$to"
  while IFS= read -r -t 10 line <&"$from"; do
    case "$line" in
      ok) return ;;
      "failed: "*) fail "$name can't '$*': ${line#failed: }" ;;
      *) echo "$line" ;;
    esac
  done
  fail "$name does not answer '$*'"
}

# The same with a line that shows what is done. Of two changes in one millisecond it is not certain which is the later one, hence the pause.
tell() {
  printf '    %s> %s\n' "$1" "${*:2}"
  ask "$@"
  sleep 0.05
}

# Two files side by side. A sign stands between lines that differ.
columns() {
  local left right mark isMore sign="${3:-|}"
  printf '\n    %-34s   %s\n    %-34s   %s\n' anna ben ---- ---
  while true; do
    left="" right="" isMore="" mark="|"
    if IFS= read -r left <&7; then isMore=1; fi
    if IFS= read -r right <&8; then isMore=1; fi
    [ -n "$isMore" ] || break
    [ "$left" = "$right" ] || mark="$sign"
    printf '    %-34s %s %s\n' "$left" "$mark" "$right"
  done 7< "$1" 8< "$2"
}
show() {
  ask anna list > "$folder/anna.list"
  ask ben list > "$folder/ben.list"
  columns "$folder/anna.list" "$folder/ben.list" "*"
}
differ() { ! cmp -s "$folder/anna.list" "$folder/ben.list"; }

# anna waits twice: the second time for what ben has sent.
agree() {
  ask anna wait
  ask ben wait
  ask anna wait
  show
  if differ; then fail "the two lists differ"; fi
}

: > "$folder/server.out"
"$server" --data "$folder/server" --dev --port 0 --monitor-port 0 --come-back 1 \
  > "$folder/server.out" 2> "$folder/server.err" < /dev/null &
processes="$!"
port=""
for _ in $(seq 100); do
  port="$(sed -n 's/^realm-server listens on .*:\([0-9][0-9]*\) for .*/\1/p' "$folder/server.out")"
  [ -z "$port" ] || break
  kill -0 "$processes" 2>/dev/null || break
  sleep 0.1
done
[ -n "$port" ] || fail "the server does not start"
echo "A server listens on port $port. anna and ben have each a program with a folder of its own."
start anna
exec 3> "$folder/anna.in" 4< "$folder/anna.out"
start ben
exec 5> "$folder/ben.in" 6< "$folder/ben.out"

printf '\n1. Both are connected.\n\n'
tell anna add Bake a cake
tell anna step 1 buy flour
tell anna add Call the plumber
tell anna add Sell the bicycle
ask anna wait
ask ben wait
tell ben count 1
agree

printf '\n2. ben has no connection, and both go on.\n\n'
tell ben offline
tell anna rename 1 Bake a chocolate cake
tell ben rename 1 Bake two cakes
tell anna step 1 light the oven
tell ben step 1 whip the cream
tell anna count 1 2
tell ben count 1 3
tell anna 'done' 2
tell ben rename 2 "Call Tom, the plumber"
tell anna rename 3 Sell the blue bicycle
tell ben delete 3
tell ben add Water the plants
show
differ || fail "ben has changes of anna without a connection"

printf '\n3. ben is connected again.\n\n'
tell ben online
agree
diff - "$folder/ben.list" <<'EXPECTED' || fail "the lists are equal, but are not what they should be"
1 [ ] Bake two cakes (+6)
      - buy flour
      - light the oven
      - whip the cream
2 [x] Call Tom, the plumber
3 [ ] Water the plants
EXPECTED
cat <<'EXPLAINED'

    1  Of two texts the later one counts. All votes count. Both steps are there, the earlier one first.
    2  It is done and has another text: changes of different properties do not touch each other.
    3  The bicycle stays deleted, though anna changed it.
EXPLAINED

printf '\n4. How long it takes until ben sees a change of anna.\n'
ask anna ping 50
ask ben wait
ask anna figures > "$folder/anna.figures"
ask ben figures > "$folder/ben.figures"
grep -q '^delay: ' "$folder/ben.figures" || fail "ben saw none of 50 changes"
columns "$folder/anna.figures" "$folder/ben.figures"

echo quit >&3
echo quit >&5
for process in ${processes#* }; do ends "$process" || fail "a program does not end"; done
printf '\nsync-demo: both lists are equal, after %s seconds.\n' "$SECONDS"
