# Everything here works from a fresh clone with Python 3.11+ and make alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m

.PHONY: demo test check golden bench fuzz wheel-test clean

$(VENV)/core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/dev: $(VENV)/core
	$(RUN) pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

demo: $(VENV)/core  ## set up and play a real match
	$(BIN)/geo-patrol match scripted random --config geo_patrol --games 1000 --seed 7 --show

test: $(VENV)/dev  ## set up, check style and types, run all tests
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) pytest

golden: $(VENV)/dev  ## write the golden playthroughs anew; look at the difference before committing it
	$(BIN)/python scripts/write_playthroughs.py

bench: $(VENV)/dev  ## measure speed beside Gymnasium's CartPole-v1
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/flight.py

fuzz: $(VENV)/dev  ## a million random phases on random boards, with bounds checks
	$(BIN)/python scripts/fuzz.py --phases 1000000

wheel-test: $(VENV)/dev  ## build the wheel and use it in a clean environment
	$(BIN)/python scripts/test_wheel.py

clean:  ## remove what was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
