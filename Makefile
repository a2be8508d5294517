# Every target works on a fresh clone; the first run needs a network.
.DEFAULT_GOAL := help
.PHONY: help setup book open test test-all mutants execute links chapter numbers bench calibrate train gpu release clean

PY ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# The checkout comes first on the path, so that a copied tree computes with its own stacklib.
# Bytecode is kept whatever the shell says: tests start hundreds of processes.
RUN := PYTHONDONTWRITEBYTECODE= STACKLIB_THIS_MACHINE=book PYTHONPATH="$(CURDIR):$(CURDIR)/book" $(BIN)/python
# Through python, so that a copied environment does not install into the original.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
HTML := _build/html
N ?= 1
COUNT ?= 100

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: .venv/.stamp

.venv/.stamp: requirements.txt pyproject.toml
	@"$(PY)" -c 'import sys; v = sys.version_info[:2]; sys.exit(v != (3, 11) and f"Python 3.11 is needed, {sys.executable} is {v[0]}.{v[1]}; try make PY=/path/to/python3.11")'
	@echo "installing pinned packages into .venv (minutes, the first time)"
	@"$(PY)" -m venv .venv
	@$(PIP) --no-compile -r requirements.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

book: setup ## the rendered book, at _build/html
	@$(RUN) -m stacklib start
	@$(RUN) -m _tools.vendor
	@$(RUN) -m _tools.build

open: book ## serve the book here and open it
	@$(RUN) -m _tools.serve $(HTML)

test: book ## all tests but the slow ones
	@$(RUN) -m _tools.suite

test-all: book ## every test, the slow ones too
	@$(RUN) -m _tools.suite --all

mutants: setup ## which of COUNT random faults no test of their room sees (SEED=7 ROOM=models)
	@$(RUN) -m _tools.mutants --count $(COUNT) $(SEED:%=--seed %) $(ROOM:%=--room $(ROOM))

execute: setup ## run notebooks again, refresh their numbers in the prose (NB=03-memory/caches: one)
	@$(RUN) -m _tools.execute $(NB)

links: setup ## refresh the numbers in the prose from what the cells stored
	@$(RUN) -m _tools.execute --links-only

chapter: setup ## is chapter N done? nine lines with counts (make chapter N=1)
	@$(RUN) -m _tools.chapter $(N)

numbers: setup ## which sentences change when a spec has changed
	@$(RUN) -m _tools.sentences

BENCH := host pipelined_training sharded_training gloo_namespaces gloo_collectives
bench: setup ## measure this machine against committed predictions (10 minutes)
	@for name in $(BENCH); do $(RUN) benchmarks/$$name.py measure || exit 1; done

calibrate: setup ## refit the efficiency factors, cross-validate, write the files (minutes)
	@$(RUN) -m stacklib.evidence.calibrate

train: setup ## train the book's own models again, into runs/ (under an hour)
	@for name in tiny draft draft_plain; do $(RUN) -m stacklib.tinylm.train_torch $$name || exit 1; done

gpu: ## measure a CUDA device; needs only a Python with torch
	@"$${GPU_PY:-python3}" benchmarks/gpu.py
	@"$${GPU_PY:-python3}" benchmarks/gloo_collectives.py nccl

release: book ## HTML zip, PDFs, notebooks and wheel, in dist/
	@$(RUN) -m _tools.release

clean: ## remove what was built (keeps .venv)
	rm -rf _build dist book/vendor

.PHONY: size
size: setup ## lines by room and kind, modules by folder
	@$(RUN) -m _tools.size
