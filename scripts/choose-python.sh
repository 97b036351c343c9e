#!/bin/sh
# Says which Python a new .venv is made of: PYTHON, if that is set; else python3 of the PATH if it was built with its optimizations,
# as pyenv's is not unless it is told to; else the system's, which distributions build so, and which is a sixth quicker then.
# Where the system's is missing, too old or cannot make a .venv, it is python3 of the PATH.
set -eu
system=${1:-/usr/bin/python3}
if [ -n "${PYTHON:-}" ]; then
    echo "$PYTHON"
    exit
fi
optimized='import sys, sysconfig as built; sys.exit("--enable-optimizations" not in (built.get_config_var("CONFIG_ARGS") or ""))'
can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
if ! python3 -c "$optimized" 2>/dev/null &&
    "$system" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null &&
    { "$system" -c 'import ensurepip, venv' 2>/dev/null || can_install; }; then
    echo "$system"
else
    echo python3
fi
