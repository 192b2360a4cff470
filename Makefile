# Each target does all its own set-up on a fresh machine.

# The main job, on real input; and the tests.
.PHONY: demo test crash crash-slow mutants fuzz format format-check setup bench bench-setup clean

STATES ?= 1000000

setup:
	@bash .ci/setup

demo: setup
	swift run -c release engine-in-ten-lines

test: setup
	swift test

release: setup
	swift build -c release --product crash-run
	swift build -c release --product fuzz-run

crash: release
	.build/release/crash-run --states 20000

crash-slow: release
	.build/release/crash-run --states $(STATES) --seed $$(date +%s)

fuzz: release
	.build/release/fuzz-run

mutants: setup
	bash Tests/Mutants/run.sh

format:
	swift format --in-place --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources

format-check:
	swift format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources

bench-setup: setup
	@bash .ci/setup benchmarks

bench: bench-setup
	swift run -c release --package-path Benchmarks realm-bench --quick

clean:
	rm -rf .build Benchmarks/.build .build-* build
