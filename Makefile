# demo test test-fast validate bench bench-collision bench-engines lint lock docs clean: each sets up what it needs in .venv by itself.
# Needed beforehand: make and Python 3.11 to 3.14 (make PYTHON=/path/to/python3 picks one).

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$p && break; done)
BIN = $(VENV)/bin
USER_STAMP = $(VENV)/.set-up
DEV_STAMP = $(VENV)/.set-up-dev
PEER_STAMP = $(VENV)/.set-up-peers
INPUTS = pyproject.toml constraints.txt locked.txt tools/setup_venv.py
# one more than two cores: some tests wait for a program, a clock or a signal
JOBS ?= 3
FAST = tests/collision tests/sim tests/test_imports.py tests/test_repository.py tests/test_rooms.py \
	--ignore=tests/collision/kernels --ignore=tests/collision/solids --ignore=tests/collision/shapes/test_rounded.py

# Where the environment says that no bytecode is kept, tests and the programs that they start would compile all modules each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast validate bench bench-collision bench-engines lint lock docs clean
.DEFAULT_GOAL = demo

demo: $(USER_STAMP)
	@$(BIN)/tumble demo

test: $(DEV_STAMP)
	@$(BIN)/python -m tumble.scenarios.warm
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadscope --no-loadscope-reorder $(ARGS)

# in a minute once kernels are kept: of what is computed the first case of each test; no films, no programs, no long runs
test-fast: $(DEV_STAMP)
	@$(BIN)/python -m tumble.scenarios.warm
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadscope --no-loadscope-reorder --one-case -m "not validate and not slow" $(FAST) $(ARGS)

validate: $(DEV_STAMP)
	@$(BIN)/python -m tumble.scenarios.warm
	@$(BIN)/python -m pytest -q -m validate -o faulthandler_timeout=7200 $(ARGS)

bench: $(USER_STAMP)
	@$(BIN)/tumble bench $(ARGS)

lint: $(DEV_STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# constraints.txt with hashes, of all platforms, into locked.txt; with make LOCKED=1 nothing else is installed
lock: $(DEV_STAMP)
	@$(BIN)/python -m pip install -q uv
	@{ sed -n 1p locked.txt; echo "setuptools>=77" | $(BIN)/uv pip compile -q pyproject.toml - --extra dev --extra demo -c constraints.txt \
	  --generate-hashes --universal --python-version 3.11 --no-header --no-annotate; } > locked.new && mv locked.new locked.txt

# beside coal, MuJoCo, python-fcl, distance3d and PyBullet
bench-collision: $(PEER_STAMP)
	@$(BIN)/python -m benchmarks.peers $(ARGS)

# validation cases and times of a step beside MuJoCo, Bullet, PhysX, and Rapier and Jolt, which need Node and npm
bench-engines: $(PEER_STAMP) benchmarks/peers/node_modules
	@$(BIN)/python -m benchmarks.peers.cases
	@$(BIN)/python -m benchmarks.peers.steps $(ARGS)

benchmarks/peers/node_modules: benchmarks/peers/package.json
	@if command -v npm >/dev/null; then cd benchmarks/peers && npm install --silent --no-package-lock && touch node_modules; \
	else echo "npm was not found: install Node 20 or later with npm, or go without Rapier and Jolt" >&2; fi

# the site, from docs/, README and docstrings, into build/site
docs: $(DEV_STAMP)
	@$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) benchmarks/peers/node_modules runs build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# the environment of a developer is that of a user, and more
$(USER_STAMP): $(INPUTS)
	@$(call setup,demo,$(USER_STAMP))

$(DEV_STAMP): $(INPUTS)
	@$(call setup,dev,$(DEV_STAMP))
	@touch $(USER_STAMP)

$(PEER_STAMP): $(INPUTS)
	@$(call setup,peers,$(PEER_STAMP))
	@touch $(USER_STAMP)

define setup
if [ -z "$(PYTHON)" ]; then echo "Python 3.11 to 3.14 is needed and was not found (make PYTHON=/path/to/python3)" >&2; exit 1; fi; \
$(PYTHON) tools/setup_venv.py "$(VENV)" "$(1)" "$(2)" $(LOCKED)
endef
