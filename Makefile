# Everything a developer does, one word each. `make help` lists the words.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.installed-peers
OUT := out
OPENSIM := $(OUT)/opensim
DOCS := $(VENV)/.installed-docs
UV_VERSION := 0.13.7
TESTS ?= tests
JOBS ?= auto

export UV_HTTP_TIMEOUT ?= 180
# The machine's own certificates where there are any: a company proxy may sign with its own.
export UV_SYSTEM_CERTS ?= $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),1,0)
UV_INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode \
	-c constraints.txt --build-constraints constraints.txt

.PHONY: help env demo pages test test-fast test-long lint style types layers copies words loops format bench trust docs player wheel release constraints clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(STAMP)  ## Set up .venv with Sekant, its test packages and its linters (once, and when the pins change)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Sekant needs Python 3.11 or later; %s is %d.%d: make PYTHON=/path/to/python3.11" % (sys.executable, *v[:2]))'
	@echo "Setting up $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { echo "cannot make $(VENV): on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(UV_INSTALL) -e '.[test,lint]'
	@touch $@

$(PEERS): $(STAMP)
	@$(UV_INSTALL) -e '.[test,lint,peers]'
	@touch $@

$(DOCS): $(STAMP)
	@$(UV_INSTALL) -e '.[test,lint,docs]'
	@touch $@

# Four of the examples, and a page on which they move: $(call demo,program,folder)
define demo
	@mkdir -p $(2)
	@$(1) run examples/roller_coaster.yaml --output $(2)/roller_coaster.nc --plot $(2)/roller_coaster.svg
	@$(1) gallery examples --output $(2)/demo \
		--live roller_coaster --only roller_coaster --only car/sedan --only suspensions/double_wishbone --only natural/bricard
endef

demo: env  ## Run four examples and write a page that plays them to out/demo
	$(call demo,$(BIN)/sekant,$(OUT))
	@echo "Open $(OUT)/demo/index.html in a browser: pictures, players, plots and the models themselves."
	@echo "Next: $(BIN)/sekant new quarter-car, or $(BIN)/sekant gallery for all examples."

test: env  ## Run the tests (TESTS=tests/unit for a part of them, JOBS=1 for one process)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(TESTS)

test-fast: env  ## Run the tests of single modules and the identities, for daily work
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/unit tests/identities

test-long: env  ## Run all tests, including tests that take minutes each
	@$(UV_INSTALL) -e '.[test,lint,export,studies,control,peers]'
	@SEKANT_OPTIMIZATION=2 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "long or not long" $(TESTS)

lint: style types layers copies words  ## Check style, types, import layers, duplicated code and odd phrases

style: env
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: env
	@$(BIN)/pyright
	@$(BIN)/pyright --level error -p pyright-scripts.json

layers: env
	@$(BIN)/lint-imports

copies: env
	@$(BIN)/pylint --score=n src/sekant/*.py src/sekant/*/

words: env
	@$(BIN)/python docs/tools/phrases.py

loops: env
	@$(BIN)/python -c 'from sekant.loops.store.objects import prepare_all; prepare_all()'

format: env  ## Format the source
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

$(OPENSIM)/.installed:  # an environment of its own: it brings a CasADi library that cannot live beside another
	@$(PYTHON) -m venv $(OPENSIM)
	@$(OPENSIM)/bin/python -m pip install --quiet --disable-pip-version-check 'opensim==4.6' 'numpy<3' \
		|| echo "OpenSim cannot be installed here; its comparison is left out" >&2
	@touch $@

bench: env $(PEERS) $(OPENSIM)/.installed  ## Compare the speed with other programs (installs them first)
	@OPENSIM_PYTHON=$${OPENSIM_PYTHON:-$(OPENSIM)/bin/python} $(BIN)/python benchmarks/run.py

trust: env  ## Test the promises of Sekant for ten minutes (HOURS=8: overnight); figures go to docs/trust.md
	@$(BIN)/python -m trust --page

player:  ## Bundle three.js and uPlot for the player (needs npm; only to change their versions)
	@cd src/sekant/views/player/bundle && npm install --no-package-lock --no-audit --no-fund && npm run build
	@rm -rf src/sekant/views/player/bundle/node_modules

pages: env  ## Update the generated parts of committed pages (run times: docs/tools/pages.py --measure)
	@$(BIN)/python docs/tools/pages.py

docs: env $(DOCS)  ## Run the code on changed pages, build the pages in out/docs, and check all links
	@$(BIN)/python -m sphinx -q -W --keep-going -j auto -d $(OUT)/doctrees docs $(OUT)/docs
	@$(BIN)/python docs/tools/site_links.py $(OUT)/docs
	@echo "Look at $(OUT)/docs/index.html"

WHEEL := $(OUT)/wheel
wheel: env  ## Build the wheels, and run the demo with them in a fresh environment
	@rm -rf dist $(WHEEL)
	@$(BIN)/uv build --quiet --wheel --out-dir dist --build-constraints constraints.txt .
	@HATCH_BUILD_HOOK_ENABLE_CUSTOM=true \
		$(BIN)/uv build --quiet --wheel --out-dir dist --build-constraints constraints.txt .
	@ls -l dist/*.whl
	@$(PYTHON) -m venv $(WHEEL)
	@$(BIN)/uv pip install --quiet --python $(WHEEL)/bin/python -c constraints.txt \
		"$$(ls dist/*.whl | grep -v -- -none-any.whl)"
	@if $(WHEEL)/bin/python -c 'import numba' 2>/dev/null; then echo "numba came along" >&2; exit 1; fi
	@mkdir -p $(WHEEL)/home && echo "in an environment of its own, with empty caches:"
	$(call demo,SEKANT_CACHE_DIR=$(abspath $(WHEEL))/home $(WHEEL)/bin/sekant,$(WHEEL))
	@echo "The wheels are in dist, and the demo made with one of them in $(WHEEL)."

release: env $(DOCS)  ## Build and check everything that a release uploads, without uploading (RELEASE="--skip pages" for a trial)
	@$(UV_INSTALL) -e '.[test,lint,docs,release]'
	@$(BIN)/python -m release $(RELEASE)

constraints: env  ## Update the pins of all dependencies to the latest versions
	@printf 'hatchling\neditables\n' | $(BIN)/uv pip compile --quiet --upgrade --no-header --no-annotate \
		--no-emit-index-url --universal --python-version 3.11 --all-extras \
		pyproject.toml - -o constraints.txt

clean:  ## Remove everything that can be rebuilt
	@rm -rf $(VENV) $(OUT) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
