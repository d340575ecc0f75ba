#!/bin/sh
# fuzz.sh [TARGET [SECONDS]]: runs a built fuzz target on its corpus, seeded from the data where they are there.
# A target is a fuzz program of its own (fuzz/TARGET_fuzz.cpp) or a format of the registry, read by format_fuzz.
set -eu
cd "$(dirname "$0")/.."
programs=build-fuzz/fuzz

targets() {
  FATHOM_FUZZ_FORMAT=list $programs/format_fuzz
  for program in $programs/*_fuzz; do basename "$program" _fuzz; done | grep -vx format
}

if [ $# -eq 0 ]; then
  targets
  exit 0
fi
target=$1
seconds=${2:-60}
targets | grep -qx -- "$target" || { echo "fuzz: no target '$target'; there are: $(targets | tr '\n' ' ')" >&2; exit 2; }
program=$programs/${target}_fuzz
if [ ! -x "$program" ]; then
  program=$programs/format_fuzz
  export FATHOM_FUZZ_FORMAT="$target"
fi
corpus=build-fuzz/corpus/$target
mkdir -p "$corpus" "build-fuzz/findings/$target"
# Seeds: what the target's own list names (fuzz/TARGET.seeds, one pattern a line), small files only.
if [ -f "fuzz/$target.seeds" ]; then
  while read -r pattern; do
    for file in $pattern; do
      if [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 200000 ]; then
        seed="$corpus/seed-$(printf %s "$file" | cksum | cut -d' ' -f1)"
        case $file in *.gz) gzip -dc "$file" >"$seed" ;; *) cp -f "$file" "$seed" ;; esac
      fi
    done
  done <"fuzz/$target.seeds"
  chmod -R u+w "$corpus"
fi
exec "$program" "$corpus" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=25 -print_final_stats=1 \
  -artifact_prefix="build-fuzz/findings/$target/"
