#!/usr/bin/env bash
# Gets the public declarations of the module that `make test` builds from the compiler, and compares them with surface.tsv.
set -euo pipefail
cd "$(dirname "$0")/../.."
export REALM_OPTIMIZED_TESTS=1
build=(swift build --scratch-path .build-test)
"${build[@]}" --quiet --product api-coverage
"${build[@]}" --quiet --target RealmSwift
built="$("${build[@]}" --show-bin-path)"
symbols=build/symbols
# The options by which the compiler finds the C modules.
maps=()
for map in "$built"/*.build/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
for map in .build-test/checkouts/*/Sources/*/include/module.modulemap; do maps+=(-I "$(dirname "$map")"); done
rm -rf "$symbols"
mkdir -p "$symbols"
swift symbolgraph-extract -module-name RealmSwift -target "$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p' | head -1)" \
  -I "$built/Modules" -I Sources/CRealmSodium -I Sources/CRealmZlib \
  "${maps[@]}" \
  -minimum-access-level internal -emit-extension-block-symbols -output-dir "$symbols"
"$built/api-coverage" --symbols "$symbols" --tests Tests/RealmSwiftTests "$@"
