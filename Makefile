# Every command of the project. Plain `make` lists them; each prepares what it needs in .venv by itself.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
BUILT := $(VENV)/.built
# A committed lock file is obeyed, never rewritten; `make LOCKED= build` lets cargo renew it.
LOCKED := $(if $(wildcard Cargo.lock),--locked)
# The binding links to no Python of its own, so that only pytest can test it; benches are linted, not tested.
CRATES := --workspace --exclude swarmrs-py --exclude swarmrs-benches

# The first interpreter that is new enough; `make PYTHON=/path/to/python` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$p && break; done)

# The oldest interpreter that is supported; older packages have no wheels for newer ones.
OLDEST ?= python3.11

# Processes that run the Python tests.
JOBS ?= 2

# What is published, and the archive unpacked.
DIST := target/dist
SOURCE := $(DIST)/source

# The schemas are a part of the package: nothing is fetched.
SCHEMA := $(BIN)/check-jsonschema --builtin-schema vendor

# Other packages for feature selection, which need versions of their own.
PEERS := target/peers-venv

SOURCES := pyproject.toml $(wildcard Cargo.toml Cargo.lock) \
	$(shell find rust -type f \( -name '*.rs' -o -name '*.toml' \) -not -path '*/target/*' 2>/dev/null)

# Both are read by the build of the binding; the same value everywhere spares a rebuild.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

.PHONY: help demo test test-rust test-python test-arm coverage coverage-rust coverage-python build lint fmt bless bench bench-grid bench-instructions bench-peers bench-python bench-reading bench-rust quality high-dimension grouping answer fronts ledger data differential crash fuzz mutants mutants-python mutants-rust soak docs dist package wheel sdist test-oldest ci clean cargo

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## choose columns of an embedded data set and print them
	$(BIN)/swarmrs select sklearn:breast_cancer --algo vlpso --seed 1

test: test-rust test-python ## run all tests, Rust and Python

test-rust: cargo ## run the tests of the Rust crates only
	if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run $(CRATES) $(LOCKED); \
		cargo test --doc $(CRATES) $(LOCKED); \
	else \
		cargo test $(CRATES) $(LOCKED); \
	fi

test-python: build ## run the Python tests only, on JOBS processes
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

# Debian has all that this needs: rustc, cargo, libstd-rust-dev:arm64, gcc-aarch64-linux-gnu and qemu-user.
test-arm: cargo ## run the tests of the Rust core for 64-bit ARM, emulated; ARGS="--lib simd::" for a part
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
	cargo test -p swarmrs-core --release --target aarch64-unknown-linux-gnu $(LOCKED) $(ARGS)

# The reports, with the lines that no test reaches, are in target/coverage.
coverage: coverage-rust coverage-python ## measure which lines the tests reach; less than 95 % is an error

coverage-rust: cargo ## the same for the Rust core; needs cargo-llvm-cov and the llvm-tools of the compiler
	@cargo llvm-cov --version >/dev/null 2>&1 || { \
		echo "error: cargo-llvm-cov is not found" >&2; \
		echo "hint: cargo install cargo-llvm-cov, and rustup component add llvm-tools (or set LLVM_COV and" \
			"LLVM_PROFDATA to those of the LLVM that rustc -vV names)" >&2; \
		exit 1; }
	mkdir -p target/coverage
	cargo llvm-cov test -p swarmrs-core $(LOCKED) --no-report
	cargo llvm-cov report --show-missing-lines --fail-under-lines 95 | tee target/coverage/rust.txt

coverage-python: build ## the same for the Python package, on JOBS processes
	mkdir -p target/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(JOBS) --dist loadfile $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report | tee target/coverage/python.txt

build: $(BUILT) ## compile the binding (release) and install it in .venv

lint: build ## check format, lints, docs, types, and the workflows by their schemas
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items $(LOCKED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest swarmrs._swarmrs
	$(SCHEMA).github-workflows .github/workflows/*.yml
	$(SCHEMA).github-issue-forms .github/ISSUE_TEMPLATE/{algorithm,bug,feature}.yml
	$(SCHEMA).github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA).dependabot .github/dependabot.yml
	$(SCHEMA).citation-file-format CITATION.cff

fmt: build ## format Rust and Python, mend what the linter can
	cargo fmt --all
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bless: cargo ## record the golden traces anew; the commit says why they moved
	SWARMRS_BLESS=1 cargo test -p swarmrs-core --test golden $(LOCKED)

bench: build ## run all benches, print their ratios and write benches/RESULTS.md; ARGS="--only grid,threads" for a part
	$(BIN)/python benches/results.py --run $(ARGS)

bench-grid: build ## measure one evaluation against the best rival by rows and features; ARGS=--quick for a part
	$(BIN)/python benches/grid.py $(ARGS)

# The binding is built for the stable ABI, so that the environment of the peers can load it from the sources.
bench-peers: build $(PEERS)/.installed ## measure whole searches against other packages; ARGS="--peers zoofs --evals 100" for a part
	PYTHONPATH=$(CURDIR)/python $(PEERS)/bin/python benches/peers.py $(or $(ARGS),--store)
	$(BIN)/python benches/results.py

bench-instructions: cargo $(BIN)/maturin ## count the instructions of the kernels by valgrind, compare with those stored; ARGS=--bless stores them
	$(BIN)/python benches/instructions.py $(ARGS)

bench-python: build ## measure whole searches against the same swarms in plain Python; ARGS="--seeds 1 --datasets wine" for a part
	$(BIN)/python benches/bench_python.py $(ARGS)

bench-reading: build ## measure the reading of files and arrays against polars and numpy; ARGS="--shapes 100x1000" for a part
	$(BIN)/python benches/reading.py $(ARGS)

bench-rust: cargo ## run the criterion benches of the core; ARGS=knn_loo for some of them
	cargo bench -p swarmrs-benches $(LOCKED) -- $(ARGS)

quality: build ## compare the subsets that all methods find; ARGS="--seeds 3 --datasets sonar" for a part
	$(BIN)/python benches/quality.py $(ARGS)

high-dimension: build ## repeat the comparison of the VLPSO paper; ARGS="--seeds 1 --datasets srbct" for a part
	$(BIN)/python benches/high_dimension.py $(ARGS)

grouping: build ## repeat the comparison of the grouped swarms; ARGS="--seeds 3 --datasets wine" for a part
	$(BIN)/python benches/grouping.py $(ARGS)

answer: build ## compare selections on unseen rows; ARGS="--deals 1 --tables srbct" for a part
	$(BIN)/python benches/answer.py $(ARGS)

fronts: build ## compare the fronts of error and size that searches find; ARGS="--seeds 3 --datasets sonar" for a part
	$(BIN)/python benches/fronts.py $(ARGS)

data: build ## fetch and check the tables of published comparisons; ARGS="sonar wine" for some, ARGS=--offline to check only
	$(BIN)/python benches/data.py $(ARGS)

ledger: build ## run all tables of five papers and print ours beside theirs; ARGS="--hours 2", --print-only, "--check 5"
	nice -n 10 $(BIN)/python benches/ledger.py $(ARGS)

differential: build ## compare predictions with scikit-learn on raw float64 tables; ARGS="--cases 1000 --seed 2" for others
	$(BIN)/python tests/differential.py $(ARGS)

crash: build ## kill a running comparison fifty times and compare what is left with an undisturbed one
	SWARMRS_KILLS=50 $(BIN)/python -m pytest tests/test_crash.py -s

fuzz: build ## feed damaged files and hostile arguments to every door; ARGS="--seconds 600 --only store,csv" for a part
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

soak: build ## run random searches in one process, check their results and watch its memory; ARGS="--minutes 30"
	$(BIN)/python tests/soak.py $(ARGS)

mutants: mutants-python mutants-rust ## change the code in small ways and list the changes that no test notices; this takes hours

mutants-python: build ## the same for the statistics and the table code; ARGS="--only statistics --sample 50" for a part
	$(BIN)/python tests/mutants.py $(ARGS)

mutants-rust: build ## the same for the engine; ARGS="--sample 300 --only knn" for a part
	CARGO_TARGET_DIR=target/mutants-tool cargo build --release --locked --manifest-path tests/mutants_rust/Cargo.toml
	$(BIN)/python tests/mutants_rust/run.py $(ARGS)

docs: build $(BIN)/mkdocs ## build the documentation site in target/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)

# The wheel is built from the archive, so that the archive lacks nothing. It has no crate of benches, which
# changes Cargo.lock by that alone: --locked would refuse it, the versions are the locked ones all the same.
dist: cargo $(BIN)/maturin $(BIN)/twine ## build the source archive, and the wheel from it alone
	rm -rf $(DIST)
	$(BIN)/maturin sdist --out $(DIST)
	mkdir $(SOURCE)
	tar -xzf $(DIST)/swarmrs-*.tar.gz -C $(SOURCE) --strip-components 1
	cd $(SOURCE) && $(CURDIR)/$(BIN)/maturin build --release --out $(CURDIR)/$(DIST)
	$(BIN)/twine check --strict $(DIST)/swarmrs-*

package: cargo ## pack the Rust crate, and compile it from its archive alone
	cargo package -p swarmrs-core --allow-dirty $(LOCKED)

wheel: dist ## check the stable ABI of the wheel and run the commands of all docs with it in an empty environment
	$(BIN)/abi3audit --strict --verbose $(DIST)/swarmrs-*.whl
	$(BIN)/python -m venv $(DIST)/wheel
	$(DIST)/wheel/bin/pip install --quiet "$$(ls $(DIST)/swarmrs-*.whl)"
	$(DIST)/wheel/bin/swarmrs select sklearn:wine --algo sfs
	$(DIST)/wheel/bin/pip install --quiet "$$(ls $(DIST)/swarmrs-*.whl)[report]" pandas pytest pytest-timeout hypothesis
	$(DIST)/wheel/bin/python -m pytest -q -p no:cacheprovider tests/test_docs.py $(ARGS)

sdist: dist ## run the Python tests of the source archive, on nothing but what it contains
	$(BIN)/python -m venv $(DIST)/sdist
	$(DIST)/sdist/bin/pip install --quiet "$$(ls $(DIST)/swarmrs-*.whl)[all,dev]"
	cd $(SOURCE) && ../sdist/bin/python -m pytest -p no:cacheprovider -n $(JOBS) --dist loadfile tests $(ARGS)

# Warnings are no errors here: the oldest packages warn of each other's successors. Pages of docs show what the newest
# packages print.
test-oldest: dist ## run the Python tests with the oldest dependencies that pyproject.toml allows
	$(OLDEST) -m venv $(DIST)/oldest
	$(OLDEST) tests/oldest.py > $(DIST)/oldest.txt
	$(DIST)/oldest/bin/pip install --quiet --constraint $(DIST)/oldest.txt "$$(ls $(DIST)/swarmrs-*.whl)[all,dev]"
	$(DIST)/oldest/bin/python -m pytest -p no:cacheprovider -n $(JOBS) --dist loadfile -W default --ignore tests/test_docs.py tests $(ARGS)

ci: ## run the gate: lint, then test
	.ci/run

clean: ## remove what was built, the .venv included
	rm -rf $(VENV) target .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f python/swarmrs/_swarmrs*.so
	find python tests benches -name __pycache__ -type d -prune -exec rm -rf {} +

cargo:
	@command -v cargo >/dev/null || { \
		echo "error: cargo is not found" >&2; \
		echo "hint: install Rust, for instance by rustup (https://rustup.rs), then run make again" >&2; \
		exit 1; }
	@command -v cc >/dev/null || command -v gcc >/dev/null || { \
		echo "error: no C compiler is found, cargo links with it" >&2; \
		echo "hint: install gcc or clang (Debian: apt install build-essential), then run make again" >&2; \
		exit 1; }

$(BIN)/maturin:
	@test -n "$(PYTHON)" || { \
		echo "error: no Python >= 3.11 with the venv module is found" >&2; \
		echo "hint: install one (Debian: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python" >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'maturin>=1.12,<2'

$(BIN)/twine: | $(BIN)/maturin
	$(BIN)/python -m pip install --quiet abi3audit twine

$(BIN)/mkdocs: | $(BIN)/maturin
	$(BIN)/python -m pip install --quiet 'mkdocs-material>=9.6,<10' 'mkdocstrings[python]>=1,<2' 'griffelib>=2,<3'

# A peer that cannot be installed is left out, and reported by the bench.
$(PEERS)/.installed: benches/peers.txt | $(BIN)/maturin
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet -r $< || \
		grep '^[a-z]' $< | xargs -n 1 $(PEERS)/bin/pip install --quiet || true
	touch $@

# Python sources are linked, not copied, so only Rust and the settings make it necessary to build again.
$(BUILT): $(SOURCES) | cargo $(BIN)/maturin
	$(BIN)/maturin develop --release $(LOCKED) --extras dev,plot,report,dask
	touch $@

ifeq ($(wildcard python/swarmrs/_swarmrs*.so),)
.PHONY: $(BUILT)
endif
