#!/bin/sh
# package.sh BUILD PYTHON: the package python3-fathom, unpacked, is all that a program needs.
set -eu
build=$1 python=$2
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg-deb"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no numpy"; exit 77; }
package=$(scripts/python_package.sh "$build")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-deb -x "$package" "$folder"
rm "$package"
unset FATHOM_LIBRARY
answer=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$folder/usr/lib/python3/dist-packages "$python" -c \
  "import fathom; print(fathom.open('examples/stencil.cubex').info['locations'], fathom.__file__.startswith('$folder'))")
[ "$answer" = "16 True" ] || { echo "unexpected answer: $answer"; exit 1; }
