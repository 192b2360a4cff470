#!/usr/bin/env bash
# Builds the engine with one rule removed at a time. Fails unless the crash run finds the loss for each of these mutants.
set -euo pipefail
cd "$(dirname "$0")/../.."
states="${STATES:-200000}"
work=.build-mutants
rm -rf "$work/tree" && mkdir -p "$work/tree"
git ls-files -z Package.swift Sources Tests Examples | xargs -0 cp --parents -t "$work/tree"
failed=0
for patch in Tests/Mutants/*.patch; do
  name=$(basename "$patch" .patch)
  [ -n "${ONLY:-}" ] && [ "$ONLY" != "$name" ] && continue
  (cd "$work/tree" && patch -s -p1) <"$patch"
  (cd "$work/tree" && swift build -c release --product crash-run --scratch-path ../build >../log 2>&1) ||
    { cat "$work/log"; exit 1; }
  code=0
  out=$("$work/build/release/crash-run" --mutant --states "$states" 2>&1) || code=$?
  if [ "$code" != 3 ]; then
    echo "mutant $name: NOT FOUND in $states states (code $code)"
    failed=1
  else
    echo "mutant $name: found (code $code): $(echo "$out" | tail -1)"
  fi
  (cd "$work/tree" && patch -s -R -p1) <"$patch"
done
exit $failed
