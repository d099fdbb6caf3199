#!/bin/sh
# Prints the path of a Python that can make the environment: it must run, be >= 3.11, and have venv and ensurepip
# (a pyenv shim may exist and fail; Debian packages venv apart). $PYTHON, if set, is the only candidate.
# With --all: one interpreter of each minor version found, oldest first, `MINOR<TAB>PATH` per line.
set -euf

# One of a virtual environment is passed over: it may be our own .venv, activated, which is about to be remade.
usable() {
    "$1" -I -c 'import ensurepip, sys, venv
sys.exit(sys.version_info < (3, 11) or sys.prefix != sys.base_prefix)' >/dev/null 2>&1
}

# directories NAME: every executable of that name on PATH, then in pyenv's versions.
executables() {
    old_ifs=$IFS
    IFS=:
    for directory in $PATH; do
        [ -x "${directory:-.}/$1" ] && [ ! -d "${directory:-.}/$1" ] && echo "${directory:-.}/$1"
    done
    IFS=$old_ifs
    set +f
    for candidate in "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/*/bin/"$1"; do
        [ -x "$candidate" ] && echo "$candidate"
    done
    set -f
    return 0
}

first_usable() {
    executables "$1" | while IFS= read -r candidate; do
        if usable "$candidate"; then
            echo "$candidate"
            break
        fi
    done
}

if [ "${1:-}" = "--all" ]; then
    for minor in 11 12 13 14 15 16; do
        found=$(first_usable "python3.$minor")
        [ -z "$found" ] || printf '3.%s\t%s\n' "$minor" "$found"
    done
    exit 0
fi

if [ -n "${PYTHON:-}" ]; then
    found=$(command -v -- "$PYTHON" || true)
    if [ -n "$found" ] && usable "$found"; then
        echo "$found"
        exit 0
    fi
    echo "PYTHON=$PYTHON does not run, is older than 3.11, is of a virtual environment, or lacks venv and ensurepip." >&2
    echo "Unset PYTHON to search for another one, or point it at a Python >= 3.11." >&2
    exit 1
fi

for name in python3.13 python3.12 python3.11 python3; do
    found=$(PYENV_ROOT=/nonexistent first_usable "$name")
    if [ -n "$found" ]; then
        echo "$found"
        exit 0
    fi
done
for name in python3.13 python3.12 python3.11; do # not on PATH, but pyenv has one
    found=$(first_usable "$name")
    if [ -n "$found" ]; then
        echo "$found"
        exit 0
    fi
done
echo "medqrels needs Python >= 3.11 with venv and ensurepip; none was found." >&2
echo "On Debian or Ubuntu: apt-get install -y python3 python3-venv" >&2
echo "Elsewhere, install one and name it: make setup PYTHON=/path/to/python3.12" >&2
exit 1
