# Everything here works from a fresh clone with only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
TRAINING := $(VENV)/training
CUDA := $(VENV)/cuda
CLUSTER := $(VENV)/cluster
TORCH := 2.13.0
RESOLUTION ?= lowest-direct
.DEFAULT_GOAL := help
LIBRARIES := sb3 torchrl tianshou agilerl pufferlib supersuit
SMALL_LIBRARIES := minari moviepy openspiel verifiers openenv

.PHONY: help demo check quick test test-nightly coverage test-browser test-training test-cuda test-libraries test-rllib test-ray docs golden pictures bench publish-bench bench-libraries policy mutants fuzz fuzz-files fuzz-server wheel-test test-dependencies release-check clean

$(VENV)/core: pyproject.toml
	@echo "installing into $(VENV), for a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --disable-pip-version-check -e ".[play]"
	touch $@

$(VENV)/dev: $(VENV)/core
	$(RUN) pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

help:  ## list the targets
	@grep -hE '^[a-z%-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/:.*  ## /|/' | awk -F '|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(VENV)/core  ## set up, then play a match
	$(BIN)/geo-patrol match scripted random --config geo_patrol --games 1000 --seed 7 --show

check: $(VENV)/dev  ## check style, types and imports, in seconds once all is installed
	$(RUN) ruff check && $(RUN) ruff format --check && $(RUN) mypy && $(BIN)/lint-imports --no-logo

quick: $(VENV)/dev  ## run the tests that take less than half a second each: two minutes on two idle cores, and one that compiles the engine
	$(RUN) pytest -m "not slow and not e2e and not nightly"

# The engine is compiled beside the checks, and so once: the processes of the tests would each begin with it.
test: $(VENV)/dev  ## set up, check style, types and imports, run all tests
	$(BIN)/geo-patrol warmup & compiling=$$!; \
	$(MAKE) --no-print-directory check; checked=$$?; \
	wait $$compiling && exit $$checked
	$(RUN) pytest

test-nightly: $(VENV)/dev  ## run the tests that take minutes, or compile what only they need
	$(RUN) pytest -m nightly

# PyTorch is installed first, with a fixed version: packages accept it, but would install a newer one.
$(TRAINING)/installed: pyproject.toml
	$(PYTHON) -m venv $(TRAINING)
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dev,train]" tensorboard onnxscript array-api-compat
	touch $@

$(VENV)/browser: $(VENV)/dev
	$(RUN) pip install --quiet --disable-pip-version-check -e ".[browser-test]"
	touch $@

test-browser: $(VENV)/browser  ## test pages in a real browser, Chromium, and in Firefox where it is installed
	@command -v chromium chromium-browser google-chrome > /dev/null \
		|| { echo "Chromium is missing. On Debian or Ubuntu: sudo apt install chromium" >&2; exit 1; }
	$(RUN) pytest tests/browser

test-training: $(TRAINING)/installed  ## test training with PyTorch (more than a gigabyte)
	$(TRAINING)/bin/python -m pytest -n 0 -m e2e tests/training tests/test_docs.py

# NVIDIA's compiler comes as packages, so kernels are compiled and simulated without a GPU; where there is one, they run on it.
$(CUDA)/installed: pyproject.toml
	$(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(CUDA)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[cuda]" pytest pytest-xdist hypothesis \
		nvidia-nvvm nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-nvjitlink
	touch $@

test-cuda: $(CUDA)/installed  ## test games on a GPU: compiled and simulated anywhere, played where there is one
	$(CUDA)/bin/python -m pytest -n 0 tests/cuda
	NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 $(CUDA)/bin/python -m pytest -n 0 tests/cuda

# A virtual environment for each library: their requirements contradict each other.
$(VENV)/libraries/%/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$*]" hypothesis pytest pytest-xdist
	touch $@

# Without CUDA, PufferLib's C++ is compiled for the processor: this version can be, where nvcc is not on the path.
$(VENV)/libraries/pufferlib/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH) setuptools wheel
	PATH=/usr/bin:/bin $(@D)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --no-deps pufferlib-core==3.0.10
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[pufferlib]" hypothesis pytest pytest-xdist
	touch $@

# Those that need no PyTorch.
$(SMALL_LIBRARIES:%=$(VENV)/libraries/%/installed): $(VENV)/libraries/%/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$*]" hypothesis pytest pytest-xdist
	touch $@

test-libraries: $(LIBRARIES:%=test-library-%) $(SMALL_LIBRARIES:%=test-library-%)  ## test the adapters for training libraries (a gigabyte for each)

test-rllib: $(VENV)/libraries/rllib/installed  ## test the adapter for RLlib and self-play on it
	OMP_NUM_THREADS=1 $(VENV)/libraries/rllib/bin/python -m pytest -n 0 -m e2e tests/rllib tests/test_docs.py

test-library-%: $(VENV)/libraries/%/installed
	OMP_NUM_THREADS=1 $(VENV)/libraries/$*/bin/python -m pytest -n 0 -m e2e tests/libraries tests/test_docs.py

$(CLUSTER)/installed: pyproject.toml
	$(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dev,ray]"
	touch $@

test-ray: $(CLUSTER)/installed  ## test campaigns on a Ray cluster that starts on this machine
	$(CLUSTER)/bin/python -m pytest -n 0 -m e2e tests/cluster tests/test_docs.py

# With DEVICE=cuda, networks and games are on a GPU; SCALE is of the minutes that each stage takes.
DEVICE ?= cpu
SCALE ?= 1
POLICY := $(if $(filter cuda,$(DEVICE)),$(CUDA),$(TRAINING))
policy: $(POLICY)/installed  ## train the policy of the package anew: seventeen hours on one thread; DEVICE=cuda SCALE=0.1 on a GPU
	$(POLICY)/bin/python -m research.train_policy --out runs/policy --policy src/geo_patrol/agents/data/base.safetensors \
		--device $(DEVICE) --scale $(SCALE)

$(VENV)/docs/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

# As root, LinkChecker becomes the user "nobody", who cannot read pages in a folder such as a container's /root.
CHECK_LINKS := from linkcheck.command import linkchecker; linkchecker.drop_privileges = lambda: None; linkchecker.linkchecker()

docs: $(VENV)/docs/installed  ## build the documentation in build/docs, with warnings as errors, run its notebooks, check its links
	$(VENV)/docs/bin/python -m sphinx --builder html --doctree-dir build/doctrees --fail-on-warning --quiet docs build/docs
	$(VENV)/docs/bin/python -c "$(CHECK_LINKS)" --no-status --no-warnings build/docs/index.html
	@echo "open build/docs/index.html, $$(du -sh build/docs | cut -f 1) in all"

golden: $(VENV)/dev  ## regenerate the golden playthroughs and images; review the difference before committing it
	$(RUN) scripts.write_playthroughs
	$(RUN) scripts.write_perft
	$(RUN) scripts.write_golden_pictures

pictures: $(VENV)/browser  ## regenerate the images of the documents
	$(RUN) scripts.make_pictures
	$(RUN) scripts.make_page_picture

# Libraries without a wheel for this machine are not installed; the report lists them as missing.
$(VENV)/bench: $(VENV)/core benchmarks/install_peers.py
	$(BIN)/python benchmarks/install_peers.py
	touch $@

bench: $(VENV)/bench  ## measure speed beside other environments; about five minutes
	$(RUN) benchmarks run

publish-bench: $(VENV)/bench  ## write the results of the last run into docs/results/benchmarks.md
	$(RUN) benchmarks publish

bench-libraries: $(LIBRARIES:%=$(VENV)/libraries/%/installed) $(VENV)/libraries/rllib/installed  ## train with each library for five minutes; then write the table of docs/results/libraries.md
	$(RUN) research.libraries run
	$(RUN) research.libraries publish

# Compiled code is not traced, so quick tests of it run a second time as plain Python.
PLAIN_RULES := tests/engine/test_rules.py tests/engine/test_sight.py tests/engine/test_observe.py tests/flight/test_flight_rules.py \
	tests/solving/test_matrices.py -k "not frequency and not uniformly and not cannot_see and not across_the_board"
PLAIN_STEPS := $(addprefix tests/envs/test_,$(addsuffix .py,starts hidden_envs env_errors vector_api vector_input own satellites))
PLAIN_AGENTS := tests/agents tests/solving/test_solution.py -k "mirrored or raider_stay or evades or returns or as_many or takes_the_shot or values_are_those"
# Training, the adapters, kernels and Ray have test targets of their own.
ELSEWHERE := */cuda.py,*/geo_patrol/training/*,*/geo_patrol/adapters/*,*/evaluation/ray_executor.py
coverage: $(VENV)/dev  ## run the tests with branch coverage, those of compiled code as plain Python
	rm -rf build/coverage && mkdir -p build/coverage
	$(RUN) coverage run -m pytest
	NUMBA_DISABLE_JIT=1 $(RUN) coverage run -m pytest $(PLAIN_RULES)
	NUMBA_DISABLE_JIT=1 $(RUN) coverage run -m pytest $(PLAIN_STEPS)
	NUMBA_DISABLE_JIT=1 $(RUN) coverage run -m pytest $(PLAIN_AGENTS)
	$(RUN) coverage combine --quiet
	$(RUN) coverage report --sort=cover
	$(RUN) coverage report --omit="$(ELSEWHERE)" --format=total --fail-under=97

mutants: $(VENV)/dev  ## change the rules in sixty places, one at a time, and see that a test fails
	$(RUN) scripts.mutations

fuzz: $(VENV)/dev  ## a million random phases on random boards, with bounds checks
	$(RUN) scripts.fuzz --phases 1000000

fuzz-files: $(VENV)/dev  ## twenty thousand damaged files, loaded within bounds
	$(RUN) scripts.fuzz_files --mutations 20000

fuzz-server: $(VENV)/browser  ## five thousand damaged messages to a server on which games are played
	$(RUN) scripts.fuzz_server

wheel-test: $(VENV)/dev  ## build the wheel and use it in a clean environment
	$(RUN) scripts.test_wheel

test-dependencies:  ## run the tests with the lowest or the newest versions of all packages: RESOLUTION=lowest-direct or highest
	$(PYTHON) -m venv --clear $(VENV)/$(RESOLUTION)
	$(VENV)/$(RESOLUTION)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(VENV)/$(RESOLUTION)/bin/uv pip install --quiet --python $(VENV)/$(RESOLUTION)/bin/python --resolution $(RESOLUTION) -e ".[dev]"
	$(VENV)/$(RESOLUTION)/bin/python -m pytest

release-check: $(VENV)/dev  ## check that a version can be released, and build it: TAG=v0.1.0
	$(RUN) pip install --quiet --disable-pip-version-check twine
	$(RUN) scripts.check_release $(TAG)
	$(RUN) scripts.test_wheel dist/*.whl

clean:  ## remove everything that was built
	rm -rf $(VENV) build dist .*_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
