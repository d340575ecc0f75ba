#!/bin/sh
# python_package.sh BUILD: makes BUILD/python3-fathom_VERSION_ARCH.deb, the Python module with the library beside it.
set -eu
cd "$(dirname "$0")/.."
build=$1
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt | head -1)
architecture=$(dpkg --print-architecture)
stage=$build/python-package
rm -rf "$stage"
module=$stage/usr/lib/python3/dist-packages/fathom
mkdir -p "$module" "$stage/DEBIAN" "$stage/usr/share/doc/python3-fathom"
cp python/fathom/*.py python/fathom/py.typed "$module/"
cp -L "$build/libfathom.so" "$module/libfathom.so"
cp LICENSE "$stage/usr/share/doc/python3-fathom/copyright"
# The packages whose libraries it is linked to.
libraries=$(ldd "$module/libfathom.so" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r file; do
  dpkg -S "$file" 2>/dev/null || dpkg -S "$(readlink -f "$file")" 2>/dev/null || dpkg -S "/usr$file" 2>/dev/null || true
done | sed 's/:.*//' | sort -u | paste -sd, | sed 's/,/, /g')
cat >"$stage/DEBIAN/control" <<TEXT
Package: python3-fathom
Version: $version
Architecture: $architecture
Section: python
Priority: optional
Maintainer: Fathom <fathom@localhost>
Depends: python3 (>= 3.9), python3-numpy, $libraries
Suggests: python3-pandas
Description: HPC performance data as columns: Cube, HPCToolkit, Extra-P, DUMPI, ovni, OTF2
 Opens profiles, traces and experiments of any format that Fathom reads and hands
 their tables to numpy, pandas and everything that takes Arrow streams.
TEXT
target=$build/python3-fathom_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$stage" "$target" >/dev/null
rm -rf "$stage"
echo "$target"
