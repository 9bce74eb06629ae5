# Each of these sets itself up in .venv first, on a machine that has only Python 3.11 or newer, make and a
# package index. PYTHON=... chooses the interpreter, JOBS=... how many tests run at once.

PY := .venv/bin/python
JOBS ?= 2
export PYTHON

.PHONY: help demo test check format bench soak clean core dev

help:
	@echo "make demo    200 cases, 50 at once, a kill in the middle, the resume after it, the report"
	@echo "make test    lint, format, types, tests"
	@echo "make check   lint, format, types"
	@echo "make format  put the code in the project's format"
	@echo "make bench   the benchmarks, against peers; tables, and JSON under bench/results/"
	@echo "make soak    the long test series"
	@echo "make clean   remove all that these made; runs/ is kept"

core dev:
	@scripts/setup $@

demo: core
	@.venv/bin/paceline demo

check: dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

test: check
	$(PY) -m pytest -n $(JOBS) --dist loadgroup --max-worker-restart 0

format: dev
	$(PY) -m ruff check --fix --exit-zero .
	$(PY) -m ruff format .

bench:
	@scripts/setup bench
	$(PY) -m bench

soak: dev
	$(PY) -m pytest -m soak --timeout 7200

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
