# Each target installs what it needs on a new machine.

# The names of targets that are not files.
.PHONY: install line-coverage sync-demo sync-load sync-faults server server-test demo release test coverage docs tsan crash crash-slow model sync-model sync-sim sync-measure sync-mutants mutants fuzz network-fuzz processes allocations letters format format-check setup bench bench-setup clean

STATES ?= 1000000

setup:
	@bash .ci/setup

# Imports a package catalogue as objects. SAMPLE=1 uses the bundled catalogue, and KEY_FILE makes an encrypted realm.
demo: setup
	swift build -c release --product package-catalog
	swift build -c release --product realm
	.build/release/package-catalog $(if $(SAMPLE),--sample) $(if $(KEY_FILE),--key-file $(KEY_FILE))
	.build/release/realm check build/catalog.realm $(if $(KEY_FILE),--key-file $(KEY_FILE))
	.build/release/realm stats build/catalog.realm $(if $(KEY_FILE),--key-file $(KEY_FILE))

# Runs the tests with the optimized library, in a build folder of their own. FILTER=name selects some of the tests.
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

# Gives changed inputs to all decoders of bytes from the network. EXECUTIONS=n is the number for each decoder (default 50,000,000), SEED=n
# the first seed, and QUICK=1 makes a run of a few seconds.
network-fuzz: setup
	swift build -c release --product fuzz-run
	swift build -c release --package-path Server --product network-fuzz
	.build/release/fuzz-run network $(fuzzing)
	Server/.build/release/network-fuzz $(fuzzing)

fuzzing = $(if $(QUICK),--quick,--executions $(or $(EXECUTIONS),50000000)) $(if $(SEED),--seed $(SEED))

# Counts how often reads of objects allocate memory.
allocations: release
	.build/release/allocation-run

processes: release
	.build/release/processes-run

# Finds which parts of RealmSwift's API the built module has, and writes the README's table. GAPS=1 lists what is missing, and CHECK=1 only
# compares the table.
coverage: setup
	@bash Tests/ApiCoverage/run.sh $(if $(GAPS),--gaps,$(if $(CHECK),--check README.md,--write README.md))

# Builds the reference of both modules from the comments in their sources, in build/docs.
docs: setup
	@bash .ci/docs

# Searches a model of the commit protocol. SLOW=1 searches within wider bounds, and RULE=name shows the way to a violation without that rule.
model:
	@mkdir -p build
	$(CXX) -O2 -std=c++17 -Wall -Wextra -o build/commit-model Tests/CommitModel/*.cpp
	build/commit-model $(if $(SLOW),--slow) $(if $(RULE),--without $(RULE))

# Writes the table for folding letters from the data of Python and Perl, which must have the Unicode version of the table. CHECK=1 only
# compares the table.
letters:
	python3 Tests/UnicodeTable/generate.py $(if $(CHECK),--check) Sources/CRealmPlatform/letters.h

# Integrates random logs from the model of the merge rules, and compares the results with those of the model (`sync-model`).
build/merge-model: $(wildcard Tests/MergeModel/*)
	mkdir -p build
	$(CXX) -O2 -std=c++17 -Wall -Wextra -o build/merge-model Tests/MergeModel/*.cpp

sync-model: setup build/merge-model
	swift build -c release --product sync-run
	build/merge-model export 1 $(or $(SEEDS),20000) | .build/release/sync-run compare

# Simulates clients and a server with messages that are delayed and lost.
sync-sim: setup
	swift build -c release --product sync-run
	.build/release/sync-run simulate --seeds $(or $(SEEDS),3000)

sync-measure: setup
	swift build -c release --product sync-run
	.build/release/sync-run measure

# Runs two programs with one list, and a server. One program goes offline, both change the list, and in the end they agree again.
sync-demo: setup
	swift build -c release --product shared-todo
	swift build -c release --package-path Server --product realm-server
	bash Examples/SharedToDo/demo.sh .build/release/shared-todo Server/.build/release/realm-server

# Measures device sync over the network. QUICK=1 uses fewer objects, and ROWS="S9 S11" selects some of the rows.
sync-load: setup
	swift build -c release --package-path Server --product realm-server
	swift build -c release --package-path Server --product sync-load
	Server/.build/release/sync-load measure Server/.build/release/realm-server $(if $(QUICK),--quick) $(if $(ROWS),--rows $(ROWS))

# Runs servers and clients that are killed, cut off, slowed down, out of disk space, and set back to an older state. QUICK=1 makes a short run,
# ROWS="kill cut" selects some of the rows, and SEED=n is the seed.
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

# Installs the tool with its manual page and completions. PREFIX=~/.local installs it for one user.
PREFIX ?= /usr/local
install: setup
	bash .ci/install $(PREFIX)

# Reports the regions of the engine that the tests run, by llvm-cov. FILTER=name selects some of the tests.
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

# Runs the sync server for development, with its data in ./server-data.
server: setup
	swift build -c release --package-path Server --product realm-server
	Server/.build/release/realm-server --data ./server-data --dev

# Runs the tests of the server. PROCESS=1 runs only the tests of RealmSwift with a server, each with its own process of realm-server.
# FILTER=name selects some of the tests.
server-test: setup
	$(if $(PROCESS),swift build --package-path Server --product realm-server)
	# Tests with a server wait for each other's work on the main actor. More tests at a time do not finish sooner, and reach their time limits.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 $(if $(PROCESS),REALM_SERVER_PROCESS=1) swift test --package-path Server $(if $(FILTER),--filter $(FILTER),$(if $(PROCESS),--filter SyncTests))

# Runs the tests of threads under ThreadSanitizer, in a build of their own. QUICK=1 runs only those of the object layer.
tsan: setup
	bash Tests/Sanitizer/run.sh $(if $(QUICK),--quick)

clean:
	rm -rf .build Benchmarks/.build Server/.build .build-* build
