# Two commands matter: `make demo` and `make test`. Everything is installed into .venv, from requirements.lock.
.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint types contract tests bench reproduce mutants docs lock test-oldest clean
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_PYTHON_DOWNLOADS := never
PYTEST_JOBS ?= 2

help: ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sidelight needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip --quiet install uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --only-binary :all: -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/installed ## install, then cluster scikit-learn's digits and write a report
	$(BIN)/python -m sidelight demo --out sidelight-demo --overwrite

test: lint types contract tests ## install, then run the checks that a change needs: format, lint, types, import contract, tests

test-slow: $(VENV)/installed ## run the tests that take long, and every property on ten times the examples
	SIDELIGHT_THOROUGH=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(PYTEST_JOBS) --dist worksteal -m "slow or hypothesis"

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/installed
	$(BIN)/mypy

contract: $(VENV)/installed
	$(BIN)/lint-imports --no-cache

tests: $(VENV)/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(PYTEST_JOBS) --dist worksteal -m "not slow"

bench: $(VENV)/installed ## measure speed and quality, and write the tables in docs/benchmarks (BENCH=name for one)
	$(BIN)/python benchmarks/run.py $(BENCH)

reproduce: $(VENV)/installed ## run the experiments of the five documents and write docs/reproduction (DOCUMENT=pf14 for one)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/reproduce.py $(DOCUMENT)

mutants: $(VENV)/installed ## plant faults in the code and count those that the tests find (MINUTES=30)
	$(BIN)/python benchmarks/mutants.py

docs: $(VENV)/installed ## build the documentation into docs/_build; its pages fetch nothing
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_offline.py docs/_build/html
	@echo "docs/_build/html/index.html"

lock: $(VENV)/installed ## resolve the dependencies again into requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra all --extra ears --group dev --universal --generate-hashes --no-header --no-annotate --quiet -o requirements.lock
	@! grep -nE '://|--index|--find-links' requirements.lock || { echo "requirements.lock names an address: remove it before committing"; exit 1; }

# The rooms that touch other libraries most; the whole suite: make test-oldest OLDEST=tests
OLDEST ?= tests/core tests/data tests/models tests/solvers tests/metrics tests/affinity tests/files tests/test_package.py
# dask of that age cannot read this test's Parquet files with the pyarrow of today; with the Pillow of that age the place
# of a photograph is not found
OLDEST_WITHOUT := --deselect tests/models/test_on_dask.py::test_the_same_bits_from_a_dask_frame \
  --deselect tests/files/material/test_pictures.py::test_orientation_is_obeyed_and_the_camera_is_asked_for_date_and_place
test-oldest: $(VENV)/installed ## run the quick half of the tests with the oldest versions that pyproject.toml allows
	@test -x $(VENV)-oldest/bin/python || $(PYTHON) -m venv $(VENV)-oldest
	@if $(BIN)/uv pip install --quiet --python $(VENV)-oldest/bin/python --resolution lowest-direct --only-binary :all: --no-binary sidelight -e ".[all]" --group test; \
	then OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)-oldest/bin/python -m pytest -n $(PYTEST_JOBS) --dist worksteal -m "not slow" -W default $(OLDEST) $(OLDEST_WITHOUT); \
	elif [ -n "$(OLDEST_OR_SKIP)" ]; then echo "test-oldest: skipped, there are no wheels of the oldest versions for $$($(VENV)-oldest/bin/python --version)"; \
	else exit 1; fi

clean: ## remove what the other commands made
	rm -rf $(VENV) $(VENV)-oldest docs/_build sidelight-demo build dist
