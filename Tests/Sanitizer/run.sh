#!/usr/bin/env bash
# Runs the tests of threads under ThreadSanitizer, in a copy of the package with a mutex that it understands.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=.build-tsan
rm -rf "$work/tree" && mkdir -p "$work/tree"
# The copies keep their times, so that only changed files are built again.
git ls-files -z Package.swift Sources Tests Examples | xargs -0 cp -p --parents -t "$work/tree"
mv "$work/tree/Tests/Sanitizer/Mutex.swift" "$work/Mutex.swift"
grep -rl --include=*.swift 'Mutex[(<]' "$work/tree/Sources" "$work/tree/Tests" | sed -E "s|($work/tree/[A-Za-z]+/[A-Za-z]+)/.*|\1|" |
  sort -u | while read -r module; do cp -p "$work/Mutex.swift" "$module/Mutex.swift"; done
objects="ObservingTests|ChangeSequenceTests|StressTests|FreezingTests|ReferenceTests|AsyncWriteTests|AutorefreshTests|DeletedValuesTests"
engine="LifetimeTests|ReadersTests|CommitGroupTests|GateTests|SignalTests|SharingTests|DecryptedNodesTests"
case "${1:-}" in --quick) tests="$objects" ;; *) tests="$objects|$engine" ;; esac
export TSAN_OPTIONS="suppressions=$PWD/Tests/Sanitizer/suppressions.txt ${TSAN_OPTIONS:-}"
swift test --package-path "$work/tree" --scratch-path "$work/build" --sanitize=thread --filter "${FILTER:-$tests}"
