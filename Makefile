# make setup   everything a checkout needs: .venv, npm packages, browser modules, Pyodide, MNIST
# make run     serves the page at http://HOST:PORT/ (127.0.0.1:8000 unless set)
# make test    linters, types, then the tests      make nightly   the slow sweeps as well
# make lint    linters and types only              make clean     removes all that set-up made
# make bench   speed beside other libraries, see docs/benchmarks.md

HOST ?= 127.0.0.1
PORT ?= 8000
SETUP = python=$$(tools/find-python) && "$$python" -B -m tools.setup
PYTEST = .venv/bin/python -m pytest

.PHONY: setup setup-test run test nightly bench lint checks ruff mypy imports tsc clean

setup:
	@$(SETUP) run

setup-test:
	@$(SETUP) test

run: setup
	@exec .venv/bin/playgrad serve --host "$(HOST)" --port "$(PORT)"

test: setup-test
	@$(MAKE) --no-print-directory -k checks
	$(PYTEST)

nightly: setup-test
	@$(MAKE) --no-print-directory -k checks
	$(PYTEST) -m "slow or not slow"

bench: setup-test
	@.venv/bin/python -m bench $(ARGS)

lint: setup-test
	@$(MAKE) --no-print-directory -k checks

# Each check by itself, without set-up; `-k` goes on to the next where one fails.
checks: ruff mypy imports tsc

ruff:
	.venv/bin/ruff check .

mypy:
	.venv/bin/mypy

imports:
	.venv/bin/lint-imports --no-logo --no-cache

tsc:
	node_modules/.bin/tsc -p tsconfig.json

clean:
	rm -rf .venv node_modules var static/vendor build dist app/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find app bench tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
