# Each target does all its own set-up on a fresh machine.

# The main job, on real input; and the tests.
.PHONY: install line-coverage sync-demo sync-load sync-faults server server-test demo test coverage docs tsan crash crash-slow model sync-model sync-sim sync-measure sync-mutants mutants fuzz network-fuzz processes allocations letters format format-check setup bench bench-setup clean

STATES ?= 1000000

setup:
	@bash .ci/setup

# A package catalogue as objects: SAMPLE=1 for the bundled one, KEY_FILE for an encrypted realm.
demo: setup
	swift build -c release --product package-catalog
	swift build -c release --product realm
	.build/release/package-catalog $(if $(SAMPLE),--sample) $(if $(KEY_FILE),--key-file $(KEY_FILE))
	.build/release/realm check build/catalog.realm $(if $(KEY_FILE),--key-file $(KEY_FILE))
	.build/release/realm stats build/catalog.realm $(if $(KEY_FILE),--key-file $(KEY_FILE))

# The library optimized, in a build folder of its own: FILTER=name for some of the tests.
test: setup
	REALM_OPTIMIZED_TESTS=1 swift test --scratch-path .build-test $(if $(FILTER),--filter $(FILTER))

release: setup
	swift build -c release --product crash-run
	swift build -c release --product fuzz-run
	swift build -c release --product processes-run
	swift build -c release --product allocation-run
	swift build -c release --product sync-run

crash: release
	.build/release/crash-run --states 20000

crash-slow: release
	.build/release/crash-run --states $(STATES) --seed $$(date +%s)

fuzz: release
	.build/release/fuzz-run

# Changed inputs for all that reads bytes of the network: EXECUTIONS=n for each decoder (50,000,000 unless given), SEED=n, QUICK=1 for a few seconds.
network-fuzz: setup
	swift build -c release --product fuzz-run
	swift build -c release --package-path Server --product network-fuzz
	.build/release/fuzz-run network $(fuzzing)
	Server/.build/release/network-fuzz $(fuzzing)

fuzzing = $(if $(QUICK),--quick,--executions $(or $(EXECUTIONS),50000000)) $(if $(SEED),--seed $(SEED))

# How often reads of objects ask for memory.
allocations: release
	.build/release/allocation-run

processes: release
	.build/release/processes-run

# What of RealmSwift's API the built module has: writes the README's table. GAPS=1 lists what is missing, CHECK=1 compares only.
coverage: setup
	@bash Tests/ApiCoverage/run.sh $(if $(GAPS),--gaps,$(if $(CHECK),--check README.md,--write README.md))

# The reference of both modules, from the comments in their sources: build/docs.
docs: setup
	@bash .ci/docs

# A search through a model of the commit protocol: SLOW=1 for wider bounds, RULE=name for the way to one violation.
model:
	@mkdir -p build
	$(CXX) -O2 -std=c++17 -Wall -Wextra -o build/commit-model Tests/CommitModel/*.cpp
	build/commit-model $(if $(SLOW),--slow) $(if $(RULE),--without $(RULE))

# The table by which letters are folded, from the data of python and perl, which must be that of its Unicode: CHECK=1 compares.
letters:
	python3 Tests/UnicodeTable/generate.py $(if $(CHECK),--check) Sources/CRealmPlatform/letters.h

# Logs that the model of the merge rules makes by chance are integrated, and compared with what the model makes of them.
build/merge-model: $(wildcard Tests/MergeModel/*)
	mkdir -p build
	$(CXX) -O2 -std=c++17 -Wall -Wextra -o build/merge-model Tests/MergeModel/*.cpp

sync-model: setup build/merge-model
	swift build -c release --product sync-run
	build/merge-model export 1 $(or $(SEEDS),20000) | .build/release/sync-run compare

# Clients and a server whose messages are late and lost.
sync-sim: setup
	swift build -c release --product sync-run
	.build/release/sync-run simulate --seeds $(or $(SEEDS),3000)

sync-measure: setup
	swift build -c release --product sync-run
	.build/release/sync-run measure

# Two programs with one list and a server: one goes offline, both change the list, and they agree again.
sync-demo: setup
	swift build -c release --product shared-todo
	swift build -c release --package-path Server --product realm-server
	bash Examples/SharedToDo/demo.sh .build/release/shared-todo Server/.build/release/realm-server

# What device sync costs over the network: QUICK=1 for fewer objects, ROWS="S9 S11" for some of the rows.
sync-load: setup
	swift build -c release --package-path Server --product realm-server
	swift build -c release --package-path Server --product sync-load
	Server/.build/release/sync-load measure Server/.build/release/realm-server $(if $(QUICK),--quick) $(if $(ROWS),--rows $(ROWS))

# Servers and clients that are killed, cut off, slowed down, out of space, and set back: QUICK=1, ROWS="kill cut" for some of the rows, SEED=n.
sync-faults: setup
	swift build -c release --package-path Server --product realm-server
	swift build -c release --package-path Server --product sync-faults
	Server/.build/release/sync-faults run Server/.build/release/realm-server $(if $(QUICK),--quick) $(if $(SEED),--seed $(SEED)) $(if $(ROWS),--rows $(ROWS))

sync-mutants: setup build/merge-model
	bash Tests/SyncMutants/run.sh

mutants: setup
	bash Tests/Mutants/run.sh

formatted = Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources \
	Server/Package.swift Server/Sources Server/Tests

# The tool with its manual page and completions: PREFIX=~/.local for oneself.
PREFIX ?= /usr/local
install: setup
	bash .ci/install $(PREFIX)

# The regions of the engine that its tests run, by llvm-cov: FILTER=name for some of the tests.
line-coverage: setup
	FILTER=$(FILTER) bash .ci/line-coverage

format:
	swift format --in-place --recursive $(formatted)

format-check:
	swift format lint --strict --recursive $(formatted)

bench-setup: setup
	@bash .ci/setup benchmarks

bench: bench-setup
	swift run -c release --package-path Benchmarks realm-bench --quick

# The sync server, for development: its data in ./server-data.
server: setup
	swift build -c release --package-path Server --product realm-server
	Server/.build/release/realm-server --data ./server-data --dev

# PROCESS=1 for the tests of RealmSwift with a server alone, where each has a process of realm-server; FILTER=name for some of the tests.
server-test: setup
	$(if $(PROCESS),swift build --package-path Server --product realm-server)
	# Tests with a server wait for each other's work on the main actor: more at a time are not done sooner, and run out of time.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 $(if $(PROCESS),REALM_SERVER_PROCESS=1) swift test --package-path Server $(if $(FILTER),--filter $(FILTER),$(if $(PROCESS),--filter SyncTests))

# The tests of threads under ThreadSanitizer: a build of its own. QUICK=1 for those of the object layer only.
tsan: setup
	bash Tests/Sanitizer/run.sh $(if $(QUICK),--quick)

clean:
	rm -rf .build Benchmarks/.build Server/.build .build-* build
