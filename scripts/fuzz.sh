#!/bin/sh
# fuzz.sh [TARGET [SECONDS]]: runs a built fuzz target on its corpus: the kept one, and the target's seeds.
# fuzz.sh --all [SECONDS]: all of them, one per core at a time, and a table of what was executed, reached and found.
# fuzz.sh --quick [SECONDS [TARGET...]]: the same without the address sanitizer, by a driver of our own (fuzz/quick), with short
#   inputs and one question for each, until each has been executed ten million times. What reaches new code is tried again by
#   --all.
# fuzz.sh --table: what all runs so far have executed and reached.
# fuzz.sh --keep [TARGET...]: makes what was found small and keeps it in fuzz/corpus.
# fuzz.sh --replay PROGRAMS TARGET: every kept input once, in programs built elsewhere.
# A target is a fuzz program of its own (fuzz/TARGET_fuzz.cpp), or one of those of format_fuzz: a format of one file, or a
# dataset of several.
# FATHOM_FUZZ_ENOUGH=20000000 says another number than ten million.
# FATHOM_FUZZ_CORES="0 1" says on which cores (all).
# FATHOM_FUZZ_OWN=1 leaves out data from outside of this repository: only what grew without them may be kept.
set -eu
cd "$(dirname "$0")/.."
programs=build-fuzz/fuzz
quick_programs=build-fuzz-quick/fuzz
enough=${FATHOM_FUZZ_ENOUGH:-10000000}
own=${FATHOM_FUZZ_OWN:-}
allocator=  # the usual one
waiting=build-fuzz/waiting.$$
corpora=build-fuzz/corpus${own:+-own}
short=build-fuzz/short${own:+-own}
# Stacks of allocations and a long memory of freed ones cost more than half of the time; a finding is run again with them.
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=1:quarantine_size_mb=8}"

# Target and program, one a line: each program of formats has several.
list() {
  for program in "$programs"/alone_* "$programs"/*_fuzz; do
    [ -x "$program" ] || continue
    case $program in
      */alone_* | */format_fuzz)
        FATHOM_FUZZ_TARGET=list "$program" | awk -v program="$(basename "$program")" '{ print $1, program }' ;;
      *) echo "$(basename "$program" _fuzz) $(basename "$program")" ;;
    esac
  done | awk '!($1 in seen) { seen[$1] = 1; print }' | sort
}

targets() { echo "${listed:=$(list)}" | cut -d' ' -f1; }
program_of() { echo "${listed:=$(list)}" | awk -v target="$1" '$1 == target { print $2 }'; }

# unpack TARGET INTO: the kept inputs.
unpack() {
  mkdir -p "$2"
  [ ! -f "fuzz/corpus/$1.tar.xz" ] || tar -xJf "fuzz/corpus/$1.tar.xz" -C "$2"
}

# Seeds: what is kept, and what the target's own list names (fuzz/TARGET.seeds, one pattern a line), small ones only.
seed() {
  corpus=$corpora/$1
  bundle=
  ! grep -q "{\"$1\", " fuzz/format_fuzz.cpp || bundle=1
  mkdir -p "build-fuzz/findings/$1"
  unpack "$1" "$corpus"
  [ -f "fuzz/$1.seeds" ] || return 0
  while read -r pattern; do
    case $own$pattern in 1../*) continue ;; esac
    for file in $pattern; do
      [ -e "$file" ] || continue
      seed="$corpus/seed-$(printf %s "$file" | cksum | cut -d' ' -f1)"
      if [ -n "$bundle" ]; then
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
  seed "$1"
  mkdir -p "$short/$1"
  start "$1" "$3" "$programs/$(program_of "$1")" "$corpora/$1" "$short/$1" -max_total_time="$2"
  note "$1" sanitized
  ! grep -q '^fuzz: .*found something' "build-fuzz/$1.log"
}

# short_length TARGET: how long its short inputs are: at most a thousand bytes, or the shortest eighth where that is more.
# Of directories the shortest that are whole datasets are enough, and several times as fast.
short_length() {
  case $1 in
    otf2-archive) echo 1500 ;;
    ovni) echo 2500 ;;
    hpctoolkit | hpctoolkit-xml | dumpi-set) echo 6000 ;;
    *)
      find "$corpora/$1" -type f -size +8c -printf '%s\n' | sort -n |
        awk '{ size[NR] = $1 } END { most = size[int(NR / 8) + 1]; print (most > 1000 ? most : 1000) }' ;;
  esac
}

# run_quick TARGET SECONDS CORE: what is still missing to ten million executions.
run_quick() {
  executed=$(awk -F '\t' -v target="$1" '$1 == target { print $2 + $3 }' fuzz/executions.tsv)
  [ "${executed:-0}" -lt $enough ] || return 0
  seed "$1"
  mkdir -p "$short/$1"
  most=$(short_length "$1")
  find "$corpora/$1" -type f -size "-$((most + 1))c" -exec cp -n {} "$short/$1" \;
  export FATHOM_FUZZ_ONE_QUESTION=1
  # Most of the time of short inputs is allocation.
  allocator=$(ldconfig -p | sed -n 's/.*libmimalloc\.so.* => //p' | head -1)
  start "$1" "$3" "$programs/$(program_of "$1")" "$short/$1" -max_len="$most" -runs=$((enough - ${executed:-0})) \
    -seed="${executed:-0}" -max_total_time="$2"
  note "$1" quick
  ! grep -q '^fuzz: .*found something' "build-fuzz/$1.log"
}

# start TARGET CORE PROGRAM ARGUMENTS...
start() {
  target=$1
  core=$2
  shift 2
  {
    FATHOM_FUZZ_TARGET="$target" LD_PRELOAD="$allocator" taskset -c "$core" "$@" -rss_limit_mb=2048 -entropic=0 -timeout=25 -print_final_stats=1 \
      -artifact_prefix="build-fuzz/findings/$target/" 2>&1 || echo "fuzz: $target: found something"
  } | tee "build-fuzz/$target.log"
}

# note TARGET sanitized|quick: adds the last run of a target to fuzz/executions.tsv: target, executions of all runs with
# sanitizers, of all quick ones, most edges that the former reached.
note() {
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$1.log" | tail -1)
  edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "build-fuzz/$1.log" | tail -1)
  (
    flock 9
    awk -F '\t' -v target="$1" -v kind="$2" -v more="${executions:-0}" -v edges="${edges:-0}" '
      function add() {
        if (kind == "quick") { $3 += more; return }
        $2 += more
        if (edges > $4 + 0) $4 = edges
      }
      $1 == target { add(); seen = 1 }
      { printf "%s\t%d\t%d\t%d\n", $1, $2, $3, $4 }
      END { if (!seen) { $1 = target; $2 = $3 = $4 = 0; add(); printf "%s\t%d\t%d\t%d\n", $1, $2, $3, $4 } }' \
      fuzz/executions.tsv | LC_ALL=C sort >build-fuzz/executions.tsv
    cp build-fuzz/executions.tsv fuzz/executions.tsv
  ) 9>build-fuzz/lock
}

# run_all HOW SECONDS [TARGET...]: all targets, or these, one per core at a time.
run_all() {
  how=$1
  seconds=$2
  shift 2
  # shellcheck disable=SC2046
  [ $# -gt 0 ] || set -- $(targets)
  printf '%s\n' "$@" >"$waiting"
  for core in ${FATHOM_FUZZ_CORES:-$(seq 0 $(($(nproc) - 1)))}; do
    while target=$(next_waiting) && [ -n "$target" ]; do
      $how "$target" "$seconds" "$core" >/dev/null || echo "fuzz: $target: see build-fuzz/$target.log" >&2
    done &
  done
  wait
  table
}

# Takes the first line of the list of targets that wait for a core.
next_waiting() {
  (
    flock 9
    head -1 "$waiting"
    sed -i 1d "$waiting"
  ) 9>"$waiting.lock"
}

# What all runs did, for docs/reliability.md, and what they found that is not removed yet.
table() {
  awk -F '\t' '
    function grouped(n) { return n < 1000 ? n : grouped(int(n / 1000)) sprintf(",%03d", n % 1000) }
    BEGIN { print "| target | executions with sanitizers | quick executions | edges |\n|---|---:|---:|---:|" }
    { print "| " $1 " | " grouped($2) " | " grouped($3) " | " grouped($4) " |" }' fuzz/executions.tsv
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
  mkdir -p "$small" "build-fuzz/short-own/$1" fuzz/corpus
  FATHOM_FUZZ_TARGET="$1" "$programs/$(program_of "$1")" -merge=1 -rss_limit_mb=2048 \
    "$small" "$from" "build-fuzz/short-own/$1" >"build-fuzz/$1.keep.log" 2>&1
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
  find "$inputs" -type f -print0 | FATHOM_FUZZ_TARGET="$2" xargs -0 "$programs/$(program_of "$2")" -rss_limit_mb=2048
}

case ${1:-} in
  "") targets ;;
  --all)
    listed=$(list)
    run_all run "${2:-60}"
    ;;
  --quick)
    programs=$quick_programs
    listed=$(list)  # once for all
    seconds=${2:-600}
    shift $(($# < 2 ? $# : 2))
    run_all run_quick "$seconds" "$@"
    ;;
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
