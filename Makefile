# Every target works on a fresh clone; the first run needs a network.
.DEFAULT_GOAL := help
.PHONY: help setup book open test test-all processor mutants execute links chapter numbers bench calibrate train gpu hdl release clean

# Another environment beside it: make setup VENV=.venv-3.13 PY=python3.13
VENV := .venv
BIN := $(VENV)/bin
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

setup: $(VENV)/.stamp

$(VENV)/.stamp: requirements.txt pyproject.toml
	@python=$$(sh book/_tools/python.sh $(VENV) "$(PY)") && \
	{ [ "$$python" = $(BIN)/python ] || "$$python" -m venv --clear $(VENV); }
	@echo "installing pinned packages into $(VENV) (minutes, the first time)"
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

processor: setup ## what is drawn, as another processor computes (or NAME=Zen FILES="...")
	@$(RUN) -m $(if $(NAME),_tools.processors $(NAME) $(FILES),_tools.suite --drawn)

mutants: setup ## which of COUNT random faults no test of their room sees (SEED=7 ROOM=models)
	@$(RUN) -m _tools.mutants --count $(COUNT) $(SEED:%=--seed %) $(ROOM:%=--room $(ROOM))

execute: setup ## run notebooks again, refresh their numbers in the prose (NB=03-memory/caches: one)
	@$(RUN) -m _tools.execute $(NB)

links: setup ## refresh the numbers in the prose from what the cells stored
	@$(RUN) -m _tools.execute --links-only

chapter: setup ## is chapter N done? a line with counts for each demand (make chapter N=1)
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

hdl: setup ## the array down to gates: synthesis, proof, place and route (PART=gates)
	@$(PIP) --no-build-isolation -e ".[hdl]"
	@echo "first use compiles Yosys and nextpnr for 80 s and fills a cache of 200 MB"
	@$(RUN) benchmarks/rtl.py $(PART)

release: book ## HTML zip, PDFs, notebooks and wheel, in dist/
	@$(RUN) -m _tools.release

clean: ## remove what was built (keeps .venv)
	rm -rf _build dist book/vendor

.PHONY: size
size: setup ## lines by room and kind, modules by folder
	@$(RUN) -m _tools.size
