# The two commands of a fresh machine are `make run` and `make test`; all they need beside make is Python 3.11 or newer.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Where it is set, each of the thousands of processes that the tests start would compile arena anew.
unexport PYTHONDONTWRITEBYTECODE
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test lint types imports tests chess bench results docs figures openspiel screenshots wheel clean

run: $(VENV)/.run ## Install into .venv and play the two quickstart tournaments
	@$(BIN)/arena run tournaments/quickstart.yaml
	@echo
	@$(BIN)/arena run tournaments/quickstart-puzzle.yaml
	@printf '\nnext: %s\n      %s\n      %s\n' \
		'$(BIN)/arena play connect-four           play against one of them' \
		'$(BIN)/arena new agent my_agent.py       write an agent, then: $(BIN)/arena try my_agent.py' \
		'$(BIN)/arena list                        games, agents and heuristics; $(BIN)/arena docs opens the manual'

test: lint types imports tests ## Lint, types, import direction and all tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

tests: $(VENV)/.dev
	tests/once-more $(BIN)/python -n auto --dist loadfile

chess: build/chess/bin/python ## Test chess, a distribution of its own, in an environment of its own
	cd chess && ../$< -m pytest

build/chess/bin/python: pyproject.toml chess/pyproject.toml
	@$(PYTHON) -m venv build/chess
	@$@ -m pip --disable-pip-version-check --quiet install --editable . --editable './chess[test]'
	@touch $@

bench: $(VENV)/.bench ## Measure, as ratios against twins and peers in the same run
	$(BIN)/python -m pytest tests/bench -o python_files='bench_*.py' -o filterwarnings=default -q --benchmark-disable-gc

results: $(VENV)/.dev ## Play the specs in tournaments/seeds and write docs/results.md
	$(BIN)/python docs/make_results.py

docs: $(VENV)/.dev ## Build the manual into build/docs; warnings are errors
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

figures: $(VENV)/.dev ## Draw the figures of the manual from matches and imports, and write its table of trust from the tests
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/make_map.py
	$(BIN)/python docs/make_promises.py

openspiel: $(VENV)/.dev ## Hold every game of open_spiel to the conformance kit, and write the table of docs/bridges/openspiel.md
	$(BIN)/python docs/make_openspiel.py

screenshots: $(VENV)/.dev ## Take the pictures of docs/web.md with Chromium
	$(BIN)/python docs/screenshots.py

wheel: $(VENV)/.dev ## Build the wheel into dist
	$(PIP) wheel --no-deps --wheel-dir dist .

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fairarena needs Python 3.11 or newer; name one with make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev,browser,report,web]'
	@touch $@ $(VENV)/.run

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	$(PIP) install --editable '.[dev,browser,report,web,bench]'
	@touch $@

clean: ## Remove what make has made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
