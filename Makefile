# NLP 104. On a fresh machine with Python 3.10 to 3.13, make and git, two commands are enough:
# `make book` and `make test`. `make help` lists the rest.

PYTHON ?= python3
NOTEBOOKS ?=
FAULTS ?=
BENCH ?=
STAGES ?=
PORT ?= 8104

BIN := .venv/bin
HTML := book/_build/html
START := $(shell date +%s)

# Keep what Python has compiled, also where containers say not to: importing TensorFlow then takes
# 3 seconds instead of 9, in every kernel and every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help prepare book test slow long execute lint format serve lock faults bench torch address clean

help: ## This list
	@echo "make book and make test are all that is needed; PYTHON=… chooses another Python."
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-16s%s\n", $$1, $$2}'

prepare:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "Error: NLP 104 needs Python 3.10 to 3.13, and there is no $(PYTHON) here. Install one of them, or name it: make book PYTHON=/path/to/python3.12" >&2; exit 1; }
	@"$(PYTHON)" tools/prepare.py

book: prepare ## Render the book from its stored outputs and say where it is
	@echo "Rendering the pages that have changed"
	@mkdir -p book/_build
	@$(BIN)/jupyter-book build . --path-output book --warningiserror --keep-going --quiet \
		>book/_build/report.txt || { cat book/_build/report.txt; rm -rf book/_build/.doctrees; exit 1; }
	@echo "The book: file://$(CURDIR)/$(HTML)/index.html (or: make serve), after $$(( $$(date +%s) - $(START) )) s"

test: prepare ## Check everything in 15 to 35 minutes: style, types, the book, all notebooks, the package
	@$(BIN)/python -m tools.check test

slow: prepare ## Run the tests that take seconds each, and the package on JAX: 10 to 20 minutes
	@$(BIN)/python -m tools.check slow $(STAGES)

long: prepare ## Run the tests that train or measure for too long for every change: about eight minutes
	@$(BIN)/python -m pytest -m long --numprocesses=2

execute: prepare ## Execute the notebooks and store their outputs (some: NOTEBOOKS="book/…/a.ipynb")
	@$(BIN)/python -m tools.execute $(NOTEBOOKS)

lint: prepare ## Check style and types
	@$(BIN)/python -m tools.check test ruff mypy

format: prepare ## Put the code into the house style
	@$(BIN)/python -m ruff check --fix --quiet
	@$(BIN)/python -m ruff format --quiet

serve: prepare ## Serve the rendered book on this machine (PORT=8104)
	@[ -f $(HTML)/index.html ] || { echo "Error: the book is not rendered yet: make book" >&2; exit 1; }
	@echo "http://localhost:$(PORT)/ (Ctrl-C ends it)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(HTML) $(PORT)

lock: prepare ## Solve requirements.txt again after a change of pyproject.toml
	@$(BIN)/python -m uv pip compile --universal --python-version 3.10 pyproject.toml --group book --group test \
		--no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		--quiet --output-file requirements.txt

faults: prepare ## Plant faults in a copy of the package: which test and which chapter catch each?
	@$(BIN)/python -m tools.faults $(FAULTS)

bench: .venv-bench/prepared ## Measure against the peers, hours; a trial: BENCH="--quick"
	@.venv-bench/bin/python -m benchmarks $(BENCH)

.venv-bench/prepared: pyproject.toml | prepare
	@echo "Installing the peers of the benchmarks into .venv-bench (KerasHub, PyTorch: gigabytes)"
	@$(BIN)/python -m uv venv --quiet --clear --python $(BIN)/python .venv-bench
	@$(BIN)/python -m uv pip install --quiet --python .venv-bench/bin/python --editable . --group bench
	@touch $@

torch: .venv-torch/prepared ## Run the package's tests on PyTorch, in an environment of their own
	@KERAS_BACKEND=torch .venv-torch/bin/python -m pytest --numprocesses=2 --dist=loadfile \
		$$(grep -lE '^(import|from) keras\b' tests/test_*.py)

.venv-torch/prepared: pyproject.toml | prepare
	@echo "Installing PyTorch and the tools of the tests into .venv-torch (gigabytes)"
	@$(BIN)/python -m uv venv --quiet --clear --python $(BIN)/python .venv-torch
	@$(BIN)/python -m uv pip install --quiet --python .venv-torch/bin/python --editable . \
		--group test torch
	@touch $@

address: prepare ## Give the repository another address: URL=https://github.com/owner/name
	@$(BIN)/python -m tools.address $(URL)

clean: ## Remove what was built (and with ALL=1 also the environments)
	@rm -rf book/_build build dist nlp104.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@if [ -n "$(ALL)" ]; then rm -rf .venv .venv-bench .venv-torch; fi
