#!/bin/sh
# fuzz.sh [TARGET [SECONDS]]: runs a built fuzz target on its corpus, seeded from the data where they are there.
set -eu
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  for program in build-fuzz/fuzz/*_fuzz; do basename "$program" _fuzz; done
  exit 0
fi
target=$1
seconds=${2:-60}
program=build-fuzz/fuzz/${target}_fuzz
[ -x "$program" ] || { echo "fuzz: no target '$target'; there are: $(scripts/fuzz.sh | tr '\n' ' ')" >&2; exit 2; }
corpus=build-fuzz/corpus/$target
mkdir -p "$corpus" "build-fuzz/findings/$target"
# Seeds: what the target's own list names (fuzz/TARGET.seeds, one pattern a line), small files only.
if [ -f "fuzz/$target.seeds" ]; then
  while read -r pattern; do
    for file in $pattern; do
      if [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 200000 ]; then
        cp -f "$file" "$corpus/seed-$(printf %s "$file" | cksum | cut -d' ' -f1)"
      fi
    done
  done <"fuzz/$target.seeds"
  chmod -R u+w "$corpus"
fi
exec "$program" "$corpus" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=25 -print_final_stats=1 \
  -artifact_prefix="build-fuzz/findings/$target/"
