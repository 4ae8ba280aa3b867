# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TESTED := $(VENV)/.installed-test
SEED ?= 1
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test suite kill fuzz bench lint docs browser clean

demo: $(INSTALLED) ## Assess five bundled examples and write the report.
	$(BIN)/unveil demo

test: $(TESTED) browser ## Run the whole suite, and beside it the linters and type checks.
	@$(MAKE) --no-print-directory --jobs=2 lint suite

suite:
	@$(BIN)/python -m pytest -n 2 --dist worksteal

kill: N ?= 1000
kill: $(TESTED) ## Kill N runs at random moments and check that nothing is lost.
	PYTHONPATH=tests $(BIN)/python -m kills --kills $(N)

fuzz: N ?= 10000
fuzz: $(TESTED) ## Run N made-up inputs, numbered from SEED; the files of those that go wrong are kept in fuzz-defects.
	PYTHONPATH=tests $(BIN)/python -m fuzz --inputs $(N) --seed $(SEED) --keep fuzz-defects

lint: $(TESTED) ## Check format, rules and types.
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy

bench: $(TESTED) ## Print every figure as a ratio against its baseline.
	$(BIN)/python benchmarks/run.py

docs: $(TESTED) ## Write the pages that are generated.
	$(BIN)/python docs/generate.py

browser: ## Install Debian's chromium, which the report's tests drive, where that is possible.
	@if command -v chromium >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "installing the Debian package chromium for the report's browser tests"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core >/dev/null; \
	else echo "chromium is not here and cannot be installed: the browser tests will say that they are skipped"; fi

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing unveil into $(VENV)"
	$(PIP) --editable .
	@touch $@

$(TESTED): $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing unveil and its test tools into $(VENV)"
	$(PIP) --editable ".[test]"
	@touch $@ $(INSTALLED)

clean: ## Remove what the other targets made.
	rm -rf $(VENV) unveil-demo fuzz-defects dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
