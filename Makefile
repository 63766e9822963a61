# make setup   install what the page needs: .venv, npm packages, browser modules, Pyodide, MNIST
# make run     serve the page at http://HOST:PORT/ (default: 127.0.0.1:8000), and build its /docs/
# make test    run linters, type checkers and tests
# make test-changed  run the tests of what has changed since main was left, or since BASE=commit
# make nightly run the slow tests as well, with the GPU as the device that "auto" takes
# make contract check all operations on GPUs, and record it; see tests/rotation.py
# make lint    run linters and type checkers only
# make wheel   build dist/playgrad-VERSION.tar.gz and the wheel
# make docs    build guides and API reference in var/docs, warnings as errors
# make bench   compare the speed with other libraries, see docs/benchmarks.md
# make clean   remove everything that set-up and tests created

HOST ?= 127.0.0.1
PORT ?= 8000
SETUP = python=$$(tools/find-python) && "$$python" -B -m tools.setup
# One more than two processors: a test that waits for a browser or a server leaves its own free.
WORKERS ?= 3
# Which of the tests that take turns to run: the commit's part, part 1 to 5, or all. See tests/rotation.py.
PART ?= commit
# Where set-up installs Node if there is none, or only an old one.
export PATH := $(CURDIR)/.venv/node:$(PATH)
# Tests run side by side, so a product on several threads only waits for them. They start hundreds of
# Python programs, which are to load what the first of them has compiled, whatever the environment says.
PYTEST = PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: setup setup-test setup-nightly run test test-changed nightly contract bench docs wheel lint checks image ruff format mypy imports tsc eslint clean

setup:
	@$(SETUP) run

setup-test:
	@$(SETUP) test

setup-nightly:
	@$(SETUP) nightly

run: setup
	@exec .venv/bin/playgrad serve --host "$(HOST)" --port "$(PORT)" \
		--docs-command ".venv/bin/python -B -m tools.setup background"

# Linters run in the time in which tests wait, and speak at the end.
test: setup-test
	@$(MAKE) --no-print-directory image
	@$(MAKE) --no-print-directory -k checks > var/checks.txt 2>&1 & checks=$$!; \
	$(PYTEST) --measure --part=$(PART); tests=$$?; \
	wait $$checks; checks=$$?; cat var/checks.txt; \
	[ $$tests = 0 ] && [ $$checks = 0 ]

test-changed: setup-test
	@.venv/bin/python -m tools.changed $(if $(BASE),--since $(BASE)) --workers $(WORKERS) --write var/changed
	$(PYTEST) @var/changed

nightly: setup-nightly
	@$(MAKE) --no-print-directory -k -j2 checks
	PLAYGRAD_NIGHT=1 PLAYGRAD_DEVICE=gpu $(PYTEST) -o faulthandler_timeout=7200 -m "slow or not slow"

contract: setup-test
	digest=$$(.venv/bin/python -m tests.rotation) && $(PYTEST) -m "rotates and not slow" && \
		echo $$digest > tests/gpu.sha256

bench: setup-test
	@.venv/bin/python -m bench $(ARGS)

wheel: setup-test
	.venv/bin/python -m build --no-isolation

docs:
	@$(SETUP) docs
	@.venv/bin/python -m tools.docs --strict

lint: setup-test
	@$(MAKE) --no-print-directory -k -j2 checks

# Each check without set-up. `make -k checks` continues after a failure.
checks: ruff format mypy imports tsc eslint

# Pages of the tests start from it.
image:
	.venv/bin/python -c "from playgrad.server import bundle, image; image.ImageCache(bundle.BundleCache()).make()"

ruff:
	.venv/bin/ruff check .

format:
	.venv/bin/ruff format --check .
	node_modules/.bin/prettier --check --log-level=warn --cache .

mypy:
	.venv/bin/mypy

imports:
	.venv/bin/lint-imports --no-logo --no-cache

tsc:
	node_modules/.bin/tsc -p tsconfig.json

eslint:
	node_modules/.bin/eslint .

clean:
	rm -rf .venv node_modules var static/bundled static/vendor static/js/records build dist app/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find app bench tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
