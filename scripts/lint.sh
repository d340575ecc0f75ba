#!/bin/sh
# lint.sh [--tidy]: formatting and direction of includes; with --tidy clang-tidy too, which takes some minutes.
# Fails on the first kind that finds something.
set -eu
cd "$(dirname "$0")/.."

echo "formatting"
git ls-files '*.cpp' '*.hpp' | xargs clang-format-16 --dry-run --Werror

echo "direction of includes"
python3 scripts/check_includes.py

echo "names of types"
python3 scripts/check_type_names.py

if [ -d web/node_modules ]; then
  echo "the page"
  (cd web && npm run --silent lint)
else
  echo "the page: skipped, its packages are not installed (./dev build installs them)"
fi

[ "${1:-}" = --tidy ] || exit 0
echo "clang-tidy"
# Its own build folder: the compile commands must be those of a build that this script knows.
cmake --preset release -B build-lint -DFATHOM_TESTS=OFF -DFATHOM_BENCH=OFF >/dev/null
git ls-files 'src/*.cpp' | xargs -P "$(nproc)" -n 4 clang-tidy-16 --quiet -p build-lint --extra-arg=-Wno-unknown-warning-option 2>/dev/null
