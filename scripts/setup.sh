#!/bin/sh
# Makes .venv fit for `run` (what farhand needs) or `dev` (what its tests and checks need). Says what it does, does nothing twice.
set -eu
cd "$(dirname "$0")/.."
kind=${1:?usage: setup.sh run|dev}
case $kind in
run) lock=requirements.lock ;;
dev) lock=requirements-dev.lock ;;
*) echo "setup.sh: unknown kind '$kind'; it takes run or dev" >&2; exit 2 ;;
esac
stamp=.venv/.ready-$kind
if [ "$stamp" -nt "$lock" ] || { [ "$kind" = run ] && [ .venv/.ready-dev -nt requirements-dev.lock ]; }; then
    exit 0
fi

python=$(sh scripts/choose-python.sh)
command -v "$python" >/dev/null || { echo "farhand needs python3 (3.11 or newer): install the package python3" >&2; exit 4; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "farhand needs Python 3.11 or newer; $("$python" --version) was found. Name another with PYTHON=..." >&2
    exit 4
}
makes_venvs() { "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
if ! makes_venvs && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing python3-venv"
    apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1 || {
        apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    } || true
fi
# Without a network the system's cannot be made fit: the other one is slower, and does.
makes_venvs || [ -n "${PYTHON:-}" ] || python=python3
makes_venvs || {
    echo "Python's venv module is missing: install the package python3-venv, then run this again." >&2
    exit 4
}
[ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || {
    echo "setup: making .venv"
    rm -rf .venv
    "$python" -m venv .venv
}
echo "setup: installing $lock"
.venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r "$lock"
# The project itself: its source folder on the path, and its command.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/src" > "$site/farhand.pth"
printf '#!%s\nfrom farhand.cli.main import main\nraise SystemExit(main())\n' "$PWD/.venv/bin/python" > .venv/bin/farhand
chmod +x .venv/bin/farhand
touch "$stamp"
