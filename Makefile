PY ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ok

.PHONY: run test lint bench peer-suite

$(STAMP): pyproject.toml
	$(PY) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	touch $@

run: $(STAMP)
	$(BIN)/guideway run playbooks/library/ssh-brute-force.yaml --tools examples/ssh/tools.py \
		--input log=examples/ssh/auth.log --approve file:examples/ssh/approvals.json \
		--trace out/trace.jsonl --draw out/run.svg

test: $(STAMP)
	$(BIN)/pytest -q

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

peer-suite: $(STAMP)
	$(BIN)/python tests/peer_suite/run.py
