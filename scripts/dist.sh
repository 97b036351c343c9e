#!/bin/sh
# Builds the wheel into dist/; `try` installs it with uv into an empty environment and runs a demo node from there.
# Needs the registry: for what builds the wheel, and for what farhand needs.
set -eu
cd "$(dirname "$0")/.."
rm -rf dist
.venv/bin/uv build --quiet --wheel --out-dir dist
wheel=$(ls dist/*.whl)
for name in drivers/claude/manifest.toml sandbox/Dockerfile hooks/program.py py.typed; do
    .venv/bin/python -m zipfile -l "$wheel" | grep "^farhand/$name " >/dev/null || {
        echo "dist: the wheel lacks farhand/$name" >&2
        exit 1
    }
done
.venv/bin/python -m zipfile -l "$wheel" | grep "^farhand/server/app_files/" >/dev/null || echo "dist: the phone app is not in it; make web builds it"
echo "dist: $wheel"
[ "${1:-}" = try ] || exit 0

place=$(mktemp -d)
# Nothing of this shell's own gets in, and nothing is left behind.
farhand() {
    env -i PATH="$place/bin:/usr/bin:/bin" HOME="$place/home" LANG=C.UTF-8 FARHAND_HOST=127.0.0.1 \
        FARHAND_TEMPORARY="$place/temporary" PORT="$port" "$place/bin/farhand" "$@"
}
leave() {
    farhand stop --all --force >/dev/null 2>&1 || true
    rm -rf "$place"
}
trap leave EXIT
mkdir "$place/home"
port=$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "dist: installing into an empty environment"
version=$(.venv/bin/python -c 'import platform; print(platform.python_version())')
UV_TOOL_DIR="$place/tools" UV_TOOL_BIN_DIR="$place/bin" \
    .venv/bin/uv tool install --quiet --python "$version" --constraints requirements.lock "$wheel"
cd "$place/home"
farhand --version

echo "dist: farhand setup --demo"
farhand setup --demo --headless </dev/null
farhand say "good day to you" --wait | grep "You said"
farhand stop --force

echo "dist: farhand run --demo"
farhand run --node fresh --demo --no-telegram --no-tunnel --headless --detach
farhand say "good day again" --wait --node fresh | grep "You said"
farhand stop --node fresh --force
echo "dist: it works in an empty environment"
