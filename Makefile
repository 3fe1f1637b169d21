# Every command of the project. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
# What executes the graphs: cpu or gpu (NVIDIA).
RUNTIME ?= cpu
CONFIG ?= model/configs/cpu.toml
RUN ?= runs/$(basename $(notdir $(CONFIG)))
CHECKPOINT ?= $(RUN)/averaged.pt
OUT ?= build/model

# Both runtimes fill the same folder of an environment, so each has its own.
VENV := $(if $(filter gpu,$(RUNTIME)),.venv/gpu,.venv)
BIN := $(VENV)/bin
PINS := docker/constraints.txt
GPU_PINS := docker/constraints-gpu.txt
REQUIREMENTS := pyproject.toml docker/requirements.py $(PINS)

# onnxruntime reports home unless told not to before it is imported.
export ORT_DISABLE_TELEMETRY = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Without these a third of a training step on a CPU goes into memory given back and taken again.
KEEP_MEMORY := MALLOC_MMAP_THRESHOLD_=8589934592 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456

.PHONY: help serve test check format train export bench image clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: RUNTIME=cpu|gpu (serve, image), CORPORA, CONFIG, RUN (train), CHECKPOINT, OUT (export), TEXTS (bench), ARGS, PYTHON"

serve: $(VENV)/serve.stamp ## Serve the bundled model on port 8000 (settings: VITRAIL_*)
	$(BIN)/python -m app

test: check ## Format check, lint, types, then all tests
	$(BIN)/pytest

check: $(VENV)/test.stamp ## Format check, lint and types only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/test.stamp ## Format the code and repair what lint can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

train: $(VENV)/train.stamp ## Train: make train CORPORA=folder of .tsv files [CONFIG=...] [RUN=...]; again to resume
	@test -n "$(CORPORA)" || { echo "usage: make train CORPORA=folder [CONFIG=$(CONFIG)] [RUN=$(RUN)]"; exit 2; }
	$(KEEP_MEMORY) $(BIN)/python -m model.train $(CONFIG) $(CORPORA) $(RUN) $(ARGS)

export: $(VENV)/train.stamp ## Checkpoint to model directory: make export CHECKPOINT=... OUT=... TEXTS=pairs.tsv (held-out pairs)
	@test -n "$(TEXTS)" || { echo "usage: make export TEXTS=pairs.tsv [CHECKPOINT=$(CHECKPOINT)] [OUT=$(OUT)]"; exit 2; }
	$(BIN)/python -m export $(CHECKPOINT) $(OUT) --texts $(TEXTS) $(ARGS)

bench: $(VENV)/test.stamp ## Decoding speed and memory against CTranslate2: make bench TEXTS=file.tsv (source, reference)
	@test -n "$(TEXTS)" || { echo "usage: make bench TEXTS=file.tsv [ARGS=...]"; exit 2; }
	$(BIN)/python -m tests.benchmarks $(TEXTS) $(ARGS)

image: ## Build the container image, run it and stop it under load (needs root on Debian or Ubuntu)
	docker/image_test.sh $(RUNTIME)

clean: ## Remove the virtual environment
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "This Python cannot make virtual environments; install them with: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/serve.stamp: $(REQUIREMENTS) $(GPU_PINS) | $(BIN)/python
	$(BIN)/python docker/requirements.py $(RUNTIME) > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet -c $(PINS) $(if $(filter gpu,$(RUNTIME)),-c $(GPU_PINS)) -r $(VENV)/requirements.txt
	touch $@

$(VENV)/train.stamp: $(REQUIREMENTS) | $(BIN)/python
	$(BIN)/python docker/requirements.py train > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet -c $(PINS) -r $(VENV)/requirements.txt
	touch $@

$(VENV)/test.stamp: $(REQUIREMENTS) | $(BIN)/python
	$(BIN)/python docker/requirements.py cpu train png dev > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet -c $(PINS) -r $(VENV)/requirements.txt
	touch $@
