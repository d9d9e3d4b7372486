# The one list of commands. Each target sets up what it needs in .venv by itself.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := Cargo.toml Cargo.lock $(shell find src -name '*.rs')

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# What builds the package, and nothing else: enough for the demonstration.
.venv/.builder: pyproject.toml
	@command -v cargo > /dev/null || { echo "no Rust here: install it from https://rustup.rs" >&2; exit 1; }
	@command -v cc > /dev/null || { echo "no C compiler here: install gcc or clang" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "maturin>=1.9,<2"
	@touch $@

.venv/.built: .venv/.builder $(SOURCES)
	@echo "compiling the Rust core, which takes minutes"
	@mkdir -p target
	@$(BIN)/maturin develop --release > target/build.log 2>&1 || { cat target/build.log >&2; exit 1; }
	@touch $@

.venv/.tools: .venv/.builder
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group test
	touch $@

SET_UP := .venv/.built .venv/.tools

.PHONY: demo
demo: .venv/.built  ## train, apply and report on a text inside the package
	$(BIN)/mergewise demo

.PHONY: test
test: $(SET_UP)  ## all tests but the slow ones
	$(BIN)/python -m pytest -q -n auto

.PHONY: test-slow
test-slow: $(SET_UP)  ## the tests that take minutes
	$(BIN)/python -m pytest -q -m slow

.PHONY: test-models
test-models: $(SET_UP)  ## compare every vocabulary the tests know with its own library: make test-models [NAMES="gemma yi"]
	$(BIN)/python tests/models.py $(NAMES)
	$(BIN)/python tests/round_trips.py $(NAMES)

.PHONY: test-sessions
test-sessions: .venv/.built  ## random operations on sessions of every vocabulary: make test-sessions [OPERATIONS=100000]
	$(BIN)/python tests/sessions.py --operations $(or $(OPERATIONS),100000)

.venv/.programs: .venv/.tools
	$(BIN)/python -m pip install --quiet --group programs
	touch $@

.PHONY: test-transformers
test-transformers: $(SET_UP) .venv/.programs  ## compare MergewiseTokenizer with transformers' own on real models, and run the programs of the guide: make test-transformers [NAMES="gemma yi"] [CALLS=1000]
	$(BIN)/python -m pytest -q tests/test_use_in.py
	$(BIN)/python tests/transformers_calls.py $(NAMES) --calls $(or $(CALLS),1000)

.PHONY: models
models: $(SET_UP)  ## write docs/models.md anew: every vocabulary the tests know beside its own library
	$(BIN)/python docs/models_page.py

.PHONY: test-suites
test-suites: $(SET_UP)  ## run the tests of other libraries on mergewise: make test-suites SUITES="tiktoken=DIR minbpe=DIR rustbpe=DIR"
	$(BIN)/python tests/peer_suites.py $(SUITES)

.venv/.cluster: .venv/.tools
	$(BIN)/python -m pip install --quiet --group cluster
	touch $@

.PHONY: test-cluster
test-cluster: $(SET_UP) .venv/.cluster  ## the tests that start Ray and Spark (which needs Java 17)
	$(BIN)/python -m pytest -q -m cluster tests/test_cluster_ray.py tests/test_cluster_spark.py

.PHONY: check
check: $(SET_UP)  ## formatting, lints, types, stubs, and the Rust tests
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	cargo clippy --quiet --all-targets --features python -- -D warnings
	cargo test --quiet
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest mergewise._core --ignore-disjoint-bases
	$(BIN)/python -m pytest -q tests/test_house.py

.PHONY: notices
notices: .venv/.tools  ## write third_party/NOTICES.txt anew, after a change of Cargo.lock
	$(BIN)/python third_party/notices.py

.PHONY: test-kills
test-kills: $(SET_UP)  ## kill commands that write files at random moments, 250 times
	$(BIN)/python tests/kills.py --kills 250

.venv/.zig: .venv/.builder
	$(BIN)/python -m pip install --quiet "ziglang>=0.13"
	touch $@

.PHONY: wheels
wheels: .venv/.zig  ## build wheels for all targets in dist/, install and try those that run here: make wheels [TARGETS="..."]
	$(BIN)/python release/wheels.py build $(TARGETS) --out dist
	$(BIN)/python release/wheels.py try dist/*-manylinux*_$$(uname -m).whl
	$(BIN)/python release/wheels.py try dist/*.tar.gz --python $(BIN)/python

# With AVX2, where there is: tests call what other processors run, too. Miri has no AVX-512.
x86_64_FEATURES := -Ctarget-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt

.PHONY: miri
miri:  ## look for undefined behaviour in what is unsafe, with Miri (nightly Rust, with miri and rust-src)
	RUSTFLAGS="$($(shell uname -m)_FEATURES)" \
		MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance -Zmiri-symbolic-alignment-check" \
		cargo +nightly miri test --target-dir target/miri --lib -- arrow:: keys:: encode:: parallel:: pattern::

TSAN := RUSTFLAGS=-Zsanitizer=thread cargo +nightly test -Zbuild-std \
	--target $$(rustc --print host-tuple) --target-dir target/tsan

.PHONY: tsan
tsan:  ## look for data races, with ThreadSanitizer (nightly Rust, with rust-src)
	$(TSAN) --lib -- parallel:: pool:: encode::cache:: table:: bound::tests::threads improve::
	$(TSAN) --test threads --test cases

.PHONY: screenshots
screenshots: $(SET_UP)  ## take the pictures of docs/pages.md anew, with a browser
	$(BIN)/python docs/screenshots.py

.PHONY: command-line
command-line: $(SET_UP)  ## write docs/command_line.md anew, from the parser, and the chart from README's table
	$(BIN)/python docs/commands_page.py
	$(BIN)/python docs/chart.py

.venv/.docs: .venv/.tools
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

.PHONY: docs
docs: $(SET_UP) .venv/.docs  ## run every example of the documents, and build them as a site in site/
	$(BIN)/python -m pytest -q tests/test_docs.py python
	$(BIN)/python docs/build_site.py

.venv/.peers: .venv/.tools bench/requirements.txt
	$(BIN)/python -m pip install --quiet --requirement bench/requirements.txt
	$(BIN)/python -m pip install --quiet cython setuptools wheel
	$(BIN)/python -m pip install --quiet --no-build-isolation youtokentome==1.0.6
	touch $@

.PHONY: bench
bench: $(SET_UP) .venv/.peers  ## measure training beside its peers: make bench CORPORA=DIR
	$(BIN)/python bench/train.py --corpora "$(CORPORA)" $(CASES)

.PHONY: bench-encode
bench-encode: $(SET_UP) .venv/.peers  ## measure encoding beside its peers: make bench-encode CORPORA=DIR
	$(BIN)/python bench/encode.py --corpora "$(CORPORA)" $(CASES)

.PHONY: bench-transformers
bench-transformers: $(SET_UP)  ## measure 1,000 chats through transformers: make bench-transformers FOLDERS="llama3.1=DIR qwen2.5=DIR"
	$(BIN)/python bench/chats.py $(FOLDERS)

.PHONY: bench-exact
bench-exact: $(SET_UP)  ## measure exact solving
	$(BIN)/python bench/exact.py

.PHONY: bench-certify
bench-certify: $(SET_UP) .venv/.peers  ## measure certificates, also beside a solver of linear programs
	$(BIN)/python bench/certify.py
	$(BIN)/python bench/certify.py --linear-programs

.PHONY: bench-improve
bench-improve: $(SET_UP)  ## measure how much better than greedy merge lists get
	$(BIN)/python bench/improve.py

.PHONY: bench-cluster
bench-cluster: $(SET_UP) .venv/.cluster  ## measure counting on Spark and Ray: make bench-cluster SIZE=5e9
	$(BIN)/python bench/cluster.py --size $(or $(SIZE),1e9) --repetitions 3

.venv/.paper: .venv/.tools
	$(BIN)/python -m pip install --quiet --group paper
	touch $@

.PHONY: paper
paper: $(SET_UP) .venv/.paper  ## check every claim of the paper, draw its figures: make paper [FULL=1] [CORPORA=DIR]
	$(BIN)/python paper/run.py $(if $(FULL),--full) $(if $(CORPORA),--corpora "$(CORPORA)")

.PHONY: format
format: .venv/.tools  ## rewrite the sources in the house style
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf .venv .cache target site python/mergewise/*.so
