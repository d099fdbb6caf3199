#!/bin/sh
# Installs what the tests need from Debian, if missing: a browser that opens the audit page, with a font, and
# the program that reads text in images.
# As root or by passwordless sudo; otherwise prints the command and exits 1.
set -eu

packages="chromium fonts-dejavu-core tesseract-ocr"
for browser in chromium chromium-browser google-chrome; do
    if command -v "$browser" >/dev/null 2>&1; then
        packages=tesseract-ocr
    fi
done
if [ "$packages" = tesseract-ocr ] && command -v tesseract >/dev/null 2>&1; then
    exit 0
fi

install="apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages"

if ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need Chromium and tesseract on PATH, and this system has no apt-get: install them by other means." >&2
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
