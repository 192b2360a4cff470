#!/usr/bin/env bash
# Builds the core of device sync with one rule removed at a time. The comparison with the model of the merge rules, the simulation, or
# the tests must find each of these mutants. ONLY=name tries only one mutant.
set -euo pipefail
cd "$(dirname "$0")/../.."
seeds="${SEEDS:-20000}"
runs="${RUNS:-3000}"
work=.build-mutants
rm -rf "$work/tree" && mkdir -p "$work/tree"
git ls-files -z Package.swift Sources Tests Examples | xargs -0 cp --parents -t "$work/tree"
build/merge-model export 1 "$seeds" > "$work/schedules"
failed=0
for patch in Tests/SyncMutants/*.patch; do
  name=$(basename "$patch" .patch)
  [ -n "${ONLY:-}" ] && [ "$ONLY" != "$name" ] && continue
  (cd "$work/tree" && patch -s -p1) <"$patch"
  # A debug build with -O takes less time to build than a release build, and runs nearly as fast.
  (cd "$work/tree" && REALM_OPTIMIZED_TESTS=1 swift build --product sync-run --scratch-path ../sync-build >../log 2>&1) ||
    { cat "$work/log"; exit 1; }
  run="$work/sync-build/debug/sync-run"
  if ! "$run" compare --first-only < "$work/schedules" > "$work/found" 2>&1; then
    echo "mutant $name: found by the model: $(head -1 "$work/found" | cut -c1-70)"
  elif ! "$run" simulate --first-only --seeds "$runs" > "$work/found" 2>&1; then
    echo "mutant $name: found by the simulation: $(head -1 "$work/found" | cut -c1-70)"
  elif ! (cd "$work/tree" && REALM_OPTIMIZED_TESTS=1 swift test --scratch-path ../sync-build --filter RealmSyncTests) \
    > "$work/found" 2>&1; then
    echo "mutant $name: found by the tests: $(grep -m1 'recorded an issue' "$work/found" | cut -c1-120)"
  else
    echo "mutant $name: NOT FOUND in $seeds logs, $runs simulations and the tests"
    failed=1
  fi
  (cd "$work/tree" && patch -s -R -p1) <"$patch"
done
exit $failed
