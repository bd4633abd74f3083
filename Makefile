# The four commands: run, test, check, bench. Each sets up what it needs; `make help` lists all.
.DELETE_ON_ERROR:
.PHONY: help run test check bench fix locks clean setup setup-dev front-end

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# The newest Python on this machine that is at least 3.11; PYTHON=... overrides.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
FRONT_END := $(shell find static/src static/public -type f 2>/dev/null) vite.config.ts tsconfig.json package-lock.json
# Node from this machine if it is new enough, else from the package registry into the environment.
NODE_OK := $(shell node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>20||a==20&&b>=19?0:1)' \
	>/dev/null 2>&1 && npm --version >/dev/null 2>&1 && echo yes)
NPM := $(if $(NODE_OK),npm,PATH="$(CURDIR)/$(BIN):$$PATH" npm)
MANAGE := $(BIN)/python manage.py

help:
	@echo "make run     set up and start Turnwright on http://127.0.0.1:8000 (PORT=... for another)"
	@echo "make test    set up and run every test this machine can run (REQUIRE_ALL=1: a skip fails)"
	@echo "make check   format, lint, types, import contracts, templates, migrations, front end"
	@echo "make bench   the benchmarks, as ratios measured in one run"
	@echo "make fix     let the formatters repair what they can"
	@echo "make locks   resolve the dependencies again and write the lock files"

run: setup front-end
	@exec $(MANAGE) up

test: setup-dev front-end
	$(NPM) test --silent
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup $(PYTEST_ARGS)

check: setup-dev front-end
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/djhtml --tabwidth 2 --check templates
	$(MANAGE) makemigrations --check --dry-run
	$(MANAGE) check --fail-level WARNING
	$(NPM) run check --silent

bench: setup-dev front-end
	$(BIN)/python -m tests.bench $(BENCH_ARGS)

fix: setup-dev front-end
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djhtml --tabwidth 2 templates
	$(NPM) run fix --silent

locks: $(BIN)/uv
	$(BIN)/uv pip compile pyproject.toml $(LOCK_OPTIONS) -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --group dev -c requirements.txt $(LOCK_OPTIONS) -o requirements-dev.txt
	$(NPM) install --package-lock-only

LOCK_OPTIONS := --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade

clean:
	rm -rf $(VENV) node_modules static/dist

# --- set-up: each step is done again only when the file it depends on is newer -------------------

setup: $(STAMPS)/runtime
setup-dev: $(STAMPS)/dev
front-end: static/dist/manifest.json

$(BIN)/uv: requirements-setup.txt
	@test -n "$(PYTHON)" || { echo "Turnwright needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "Setting up the Python environment in $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-setup.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/runtime: $(BIN)/uv requirements.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.txt
	@touch $@

$(STAMPS)/dev: $(STAMPS)/runtime requirements-dev.txt
	@echo "Installing the development tools ..."
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.txt
	@touch $@

$(STAMPS)/node: $(BIN)/uv requirements-node.txt
	@$(if $(NODE_OK),true,echo "Installing Node.js into $(VENV) ..." && $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-node.txt)
	@touch $@

node_modules/.package-lock.json: package-lock.json $(STAMPS)/node
	@$(NPM) ci --no-audit --no-fund --loglevel error
	@touch $@

static/dist/manifest.json: node_modules/.package-lock.json $(FRONT_END)
	@echo "Building the front end ..."
	@$(NPM) run build --silent -- --logLevel warn
	@touch $@
