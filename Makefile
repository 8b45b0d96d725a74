# Everything here needs only Python 3.11 or later with pip, make and git.
PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
BIN := $(VENV)/bin
CORPORA := python3-doc postgresql-doc-15 git-doc sqlite3-doc debian-reference-en
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

READERS := ffmpeg tesseract-ocr p7zip-full
DESKTOP := xvfb openbox xdotool x11-utils x11-xserver-utils mousepad fonts-dejavu-core

.PHONY: help demo test slow check format lint types wheel-check bubblewrap chromium corpora desktop readers
.DEFAULT_GOAL := help

help:
	@echo 'make demo         install, and answer one question about a real file'
	@echo 'make test         install, and run the tests, in two processes (WORKERS=2)'
	@echo 'make slow         install, and run the tests that take longer: crashes, attacks, costs'
	@echo 'make check        what must pass before a commit: format, lint, types, tests'
	@echo 'make wheel-check  build the wheel, install it elsewhere, run tests of its commands on it'

demo: $(VENV)/core.stamp
	$(BIN)/tea run examples/demo.json

test: $(VENV)/test.stamp bubblewrap readers
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

slow: $(VENV)/browser.stamp bubblewrap chromium corpora desktop readers
	$(BIN)/python -m pytest -m 'slow and timed'
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal -m 'slow and not timed'

# The strongest sandbox is a program of the system; where this may not install it, the tests that need it fail.
bubblewrap:
	@command -v bwrap >/dev/null || (apt-get update -qq && apt-get install -y -qq bubblewrap) >/dev/null 2>&1 \
	  || echo 'bubblewrap is missing, so its tests fail: install the package `bubblewrap` of your distribution.'

# Sounds, videos, letters in images and 7Z archives are read by programs of the system.
readers:
	@command -v ffmpeg tesseract 7z | grep -c . | grep -qx 3 || (apt-get update -qq && apt-get install -y -qq \
	  --no-install-recommends $(READERS)) >/dev/null 2>&1 \
	  || echo 'Programs for media are missing, so tests fail: install $(READERS).'

# The browser's tests drive the one of the system, and lend its network a device.
chromium:
	@command -v chromium ip | grep -c . | grep -qx 2 || (apt-get update -qq && apt-get install -y -qq chromium iproute2) \
	  >/dev/null 2>&1 || echo 'Programs are missing, so tests of the browser fail: install chromium and iproute2.'

# The desktop's tests type into an editor, on an X server without a screen.
desktop:
	@command -v Xvfb openbox xdotool xprop xmodmap mousepad | grep -c . | grep -qx 6 || (apt-get update -qq && apt-get \
	  install -y -qq --no-install-recommends $(DESKTOP)) >/dev/null 2>&1 \
	  || echo 'Programs of a desktop are missing, so tests fail: install $(DESKTOP).'

# What the measurement of the local search reads; where it is missing, that slow test fails.
corpora:
	@dpkg -s $(CORPORA) >/dev/null 2>&1 || (apt-get update -qq && apt-get install -y -qq --no-install-recommends \
	  $(CORPORA)) >/dev/null 2>&1 || echo 'The corpora are missing, so a test fails: install $(CORPORA).'

check: format lint types test

format: $(VENV)/test.stamp
	$(BIN)/ruff format --check

lint: $(VENV)/test.stamp
	$(BIN)/ruff check

types: $(VENV)/test.stamp
	$(BIN)/basedpyright --pythonpath $(BIN)/python

wheel-check: $(VENV)/test.stamp
	.ci/wheel-check $(BIN)/python $(WORKERS)

# Compiled at once, since sandboxes import it without the right to write there.
$(VENV)/core.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	$(BIN)/python -m compileall -q tea
	touch $@

$(VENV)/test.stamp: $(VENV)/core.stamp
	$(INSTALL) --editable '.[test]'
	touch $@

$(VENV)/browser.stamp: $(VENV)/test.stamp
	$(INSTALL) --editable '.[test,browser,textgrad,wasm]'
	touch $@
