# `make` alone says what there is. Nothing but Python >= 3.11, make and pip is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NAME := virtual-flora
WORK := dataset

.DEFAULT_GOAL := help
.PHONY: help dataset docs notebooks test check format bench leaderboard golden env clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

env: $(READY)  ## make the environment in .venv

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spatialsplit needs Python 3.11 or newer; say which: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

dataset: $(READY)  ## make the virtual flora, build it as a dataset, and audit it
	@rm -rf $(WORK)/input
	@mkdir -p $(WORK)
	$(BIN)/spatialsplit synth --out $(WORK)/input
	cp data_manifests/$(NAME)/recipe.toml $(WORK)/input/recipe.toml
	$(BIN)/spatialsplit build $(WORK)/input/recipe.toml --out $(WORK)/$(NAME) --force
	$(BIN)/spatialsplit verify $(WORK)/$(NAME)
	$(BIN)/spatialsplit audit $(WORK)/$(NAME)

docs: $(READY)  ## build the documentation into site/: open site/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -d site/.doctrees -b html docs site

notebooks: $(READY)  ## run the notebooks and keep their outputs
	$(BIN)/python -m notebooks.run

RASTERS := $(foreach name,elevation precipitation temperature,--raster $(WORK)/input/rasters/$(name).tif)

leaderboard: dataset  ## run all baselines on the virtual flora
	$(BIN)/python -m benchmarks.leaderboard --data $(WORK)/$(NAME) $(RASTERS) --out $(WORK)/leaderboard.md

test: $(READY)  ## run the tests
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

check: $(READY)  ## look at format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(READY)  ## run the benchmarks, some by name: make bench NAMES="po_filter quadrats"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	$(BIN)/python -m benchmarks $(NAMES)

golden: dataset  ## take the sample dataset of today as the golden one: a breaking change
	cp $(WORK)/$(NAME)/manifest.json $(WORK)/$(NAME)/SHA256SUMS data_manifests/$(NAME)/

format: $(READY)  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove the environment, the sample dataset and the site
	rm -rf $(VENV) $(WORK) site docs/generated docs/tutorial
