#!/bin/sh
# Installs what the tests need from Debian, if missing: a browser that opens the audit page, with a font; the
# program that reads text in images; and the database below a team's review server.
# As root or by passwordless sudo; otherwise prints the command and exits 1.
set -eu

# Whether one of some programs is there.
is_there() {
    for program in "$@"; do
        if command -v "$program" >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

packages=
if ! is_there chromium chromium-browser google-chrome; then
    packages="chromium fonts-dejavu-core"
fi
if ! is_there tesseract; then
    packages="$packages tesseract-ocr"
fi
# Debian keeps the server's programs apart from PATH, by version.
if ! is_there postgres /usr/lib/postgresql/*/bin/postgres; then
    packages="$packages postgresql"
fi
packages=${packages# }
if [ -z "$packages" ]; then
    exit 0
fi

install="apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages"

if ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need these packages of Debian, and this system has no apt-get: $packages" >&2
    echo "Install what they are called here by other means." >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    exec sh -c "$install"
fi
if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    exec sudo -n sh -c "$install"
fi
echo "The tests need packages that only root can install. Run this, then make test again:" >&2
echo "  sudo sh -c '$install'" >&2
exit 1
