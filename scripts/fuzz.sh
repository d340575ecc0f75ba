#!/bin/sh
# fuzz.sh [TARGET [SECONDS]]: runs a built fuzz target on its corpus: the kept one, and the target's seeds.
# fuzz.sh --all [SECONDS]: all of them, one per core at a time, and a table of what was executed, reached and found.
# fuzz.sh --table: what all runs so far have executed and reached.
# fuzz.sh --keep [TARGET...]: makes what was found small and keeps it in fuzz/corpus.
# fuzz.sh --replay PROGRAMS TARGET: every kept input once, in programs built elsewhere.
# A target is a fuzz program of its own (fuzz/TARGET_fuzz.cpp), a format of one file, read by format_fuzz, or a dataset of
# several files, made by bundle_fuzz.
# FATHOM_FUZZ_OWN=1 leaves out data from outside of this repository: only what grew without them may be kept.
set -eu
cd "$(dirname "$0")/.."
programs=build-fuzz/fuzz
own=${FATHOM_FUZZ_OWN:-}
corpora=build-fuzz/corpus${own:+-own}
# Stacks of allocations and a long memory of freed ones cost more than half of the time; a finding is run again with them.
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=1:quarantine_size_mb=8}"

in_list() { FATHOM_FUZZ_FORMAT=list "$programs/$1_fuzz" | grep -qx -- "$2"; }

targets() {
  {
    FATHOM_FUZZ_FORMAT=list $programs/format_fuzz
    FATHOM_FUZZ_FORMAT=list $programs/bundle_fuzz
    for program in "$programs"/*_fuzz; do basename "$program" _fuzz; done | grep -vx -e format -e bundle
  } | sort | awk '$0 == last { print "fuzz: two targets are called " $0 > "/dev/stderr"; exit 1 } { last = $0; print }'
}

# The program that runs a target.
program_of() {
  for kind in format bundle; do
    if in_list $kind "$1"; then
      echo $kind
      return
    fi
  done
  echo "$1"
}

# unpack TARGET INTO: the kept inputs.
unpack() {
  mkdir -p "$2"
  [ ! -f "fuzz/corpus/$1.tar.xz" ] || tar -xJf "fuzz/corpus/$1.tar.xz" -C "$2"
}

# Seeds: what is kept, and what the target's own list names (fuzz/TARGET.seeds, one pattern a line), small ones only.
seed() {
  corpus=$corpora/$1
  mkdir -p "build-fuzz/findings/$1"
  unpack "$1" "$corpus"
  [ -f "fuzz/$1.seeds" ] || return 0
  while read -r pattern; do
    case $own$pattern in 1../*) continue ;; esac
    for file in $pattern; do
      [ -e "$file" ] || continue
      seed="$corpus/seed-$(printf %s "$file" | cksum | cut -d' ' -f1)"
      if [ "$2" = bundle ]; then
        python3 scripts/fuzz_bundle.py "$file" "$seed"
      elif [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 200000 ]; then
        case $file in *.gz) gzip -dc "$file" >"$seed" ;; *) cp -f "$file" "$seed" ;; esac
      fi
    done
  done <"fuzz/$1.seeds"
  chmod -R u+w "$corpus"
}

# run TARGET SECONDS CORE: on one core, that is with one thread: waking others takes longer than reading most of the
# inputs. Without weighing of inputs by entropy, which does so, too.
run() {
  kind=$(program_of "$1")
  seed "$1" "$kind"
  {
    FATHOM_FUZZ_FORMAT="$1" taskset -c "$3" "$programs/${kind}_fuzz" "$corpora/$1" -max_total_time="$2" \
      -rss_limit_mb=2048 -entropic=0 -timeout=25 -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$1/" 2>&1 ||
      echo "fuzz: $1: found something"
  } | tee "build-fuzz/$1.log"
  note "$1"
  ! grep -q '^fuzz: .*found something' "build-fuzz/$1.log"
}

# Adds the last run of a target to fuzz/executions.tsv: target, executions of all runs, most edges.
note() {
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$1.log" | tail -1)
  edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "build-fuzz/$1.log" | tail -1)
  (
    flock 9
    awk -F '\t' -v target="$1" -v more="${executions:-0}" -v edges="${edges:-0}" '
      $1 == target { $2 += more; if (edges > $3 + 0) $3 = edges; seen = 1 }
      { printf "%s\t%d\t%d\n", $1, $2, $3 }
      END { if (!seen) printf "%s\t%d\t%d\n", target, more, edges }' fuzz/executions.tsv | LC_ALL=C sort >build-fuzz/executions.tsv
    cp build-fuzz/executions.tsv fuzz/executions.tsv
  ) 9>build-fuzz/lock
}

# All targets, one per core at a time.
run_all() {
  cores=$(nproc)
  for core in $(seq 0 $((cores - 1))); do
    for target in $(targets | awk -v core="$core" -v cores="$cores" 'NR % cores == core'); do
      run "$target" "$1" "$core" >/dev/null || echo "fuzz: $target: see build-fuzz/$target.log" >&2
    done &
  done
  wait
  table
}

# What all runs did, for docs/reliability.md, and what they found that is not removed yet.
table() {
  awk -F '\t' '
    function grouped(n) { return n < 1000 ? n : grouped(int(n / 1000)) sprintf(",%03d", n % 1000) }
    { row[NR] = $1 " | " grouped($2) " | " grouped($3) }
    END {
      print "| target | executions | edges | target | executions | edges |\n|---|---:|---:|---|---:|---:|"
      half = int((NR + 1) / 2)
      for (i = 1; i <= half; ++i) print "| " row[i] " | " (i + half in row ? row[i + half] : " | | ") " |"
    }' fuzz/executions.tsv
  found=$(find build-fuzz/findings -type f 2>/dev/null)
  [ -z "$found" ] || { echo "$found" | sed 's/^/fuzz: found: /' >&2; return 1; }
}

# The fewest inputs that reach what all of them reach, and those that once failed; one archive a target, the same bytes
# for the same inputs.
keep() {
  from=build-fuzz/corpus-own/$1
  [ -d "$from" ] || { echo "fuzz: nothing was found for '$1' with FATHOM_FUZZ_OWN=1" >&2; return 1; }
  small=build-fuzz/small/$1
  rm -rf "$small"
  mkdir -p "$small" fuzz/corpus
  FATHOM_FUZZ_FORMAT="$1" "$programs/$(program_of "$1")_fuzz" -merge=1 -rss_limit_mb=2048 \
    "$small" "$from" >"build-fuzz/$1.keep.log" 2>&1
  find "build-fuzz/findings/$1" -name 'crash-*' -exec cp {} "$small" \;
  tar -cf - --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$small" . |
    xz -9e >"fuzz/corpus/$1.tar.xz"
  echo "$1: $(find "$small" -type f | wc -l) inputs, $(wc -c <"fuzz/corpus/$1.tar.xz") bytes"
}

replay() {
  programs=$1
  inputs=$(mktemp -d)
  trap 'rm -rf "$inputs"' EXIT
  unpack "$2" "$inputs"
  [ -n "$(ls "$inputs")" ] || { echo "fuzz: nothing is kept for '$2'" >&2; return 1; }
  find "$inputs" -type f -print0 | FATHOM_FUZZ_FORMAT="$2" xargs -0 "$programs/$(program_of "$2")_fuzz" -rss_limit_mb=2048
}

case ${1:-} in
  "") targets ;;
  --all) run_all "${2:-60}" ;;
  --table) table ;;
  --keep)
    shift
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(targets)
    for target in "$@"; do keep "$target"; done
    ;;
  --replay) replay "$2" "$3" ;;
  *)
    targets | grep -qx -- "$1" || {
      echo "fuzz: no target '$1'; there are: $(targets | tr '\n' ' ')" >&2
      exit 2
    }
    run "$1" "${2:-60}" 0
    ;;
esac
