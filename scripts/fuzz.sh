#!/bin/sh
# fuzz.sh [TARGET [SECONDS]]: runs a built fuzz target on its corpus, seeded from the data where they are there.
# fuzz.sh --all [SECONDS]: all of them in turn, and a table of what was executed, reached and found.
# A target is a fuzz program of its own (fuzz/TARGET_fuzz.cpp), a format of one file, read by format_fuzz, or a dataset of
# several files, made by bundle_fuzz.
set -eu
cd "$(dirname "$0")/.."
programs=build-fuzz/fuzz

in_list() { FATHOM_FUZZ_FORMAT=list "$programs/$1_fuzz" | grep -qx -- "$2"; }

targets() {
  {
    FATHOM_FUZZ_FORMAT=list $programs/format_fuzz
    FATHOM_FUZZ_FORMAT=list $programs/bundle_fuzz
    for program in $programs/*_fuzz; do basename "$program" _fuzz; done | grep -vx -e format -e bundle
  } | sort
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

# Seeds: what the target's own list names (fuzz/TARGET.seeds, one pattern a line), small ones only.
seed() {
  corpus=build-fuzz/corpus/$1
  mkdir -p "$corpus" "build-fuzz/findings/$1"
  [ -f "fuzz/$1.seeds" ] || return 0
  while read -r pattern; do
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

run() {
  kind=$(program_of "$1")
  seed "$1" "$kind"
  FATHOM_FUZZ_FORMAT="$1" "$programs/${kind}_fuzz" "build-fuzz/corpus/$1" -max_total_time="$2" -rss_limit_mb=2048 \
    -timeout=25 -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$1/"
}

# All targets in turn, for docs/reliability.md. What was found in earlier runs is counted, too, until it is removed.
run_all() {
  echo "| target | executions | edges | findings |"
  echo "|---|---:|---:|---:|"
  status=0
  for target in $(targets); do
    log=build-fuzz/$target.log
    run "$target" "$1" >"$log" 2>&1 || status=1
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -1)
    findings=$(find "build-fuzz/findings/$target" -type f | wc -l)
    echo "| $target | ${executions:-?} | ${edges:-0} | $findings |"
  done
  return $status
}

case ${1:-} in
  "") targets ;;
  --all) run_all "${2:-60}" ;;
  *)
    targets | grep -qx -- "$1" || {
      echo "fuzz: no target '$1'; there are: $(targets | tr '\n' ' ')" >&2
      exit 2
    }
    run "$1" "${2:-60}"
    ;;
esac
