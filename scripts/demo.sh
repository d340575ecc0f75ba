#!/bin/sh
# demo.sh FATHOM: the main job on the datasets in examples/, command by command.
set -eu
cd "$(dirname "$0")/.."
fathom=$1

bold=
plain=
if [ -t 1 ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
fi

run() {
  printf '\n%s$ fathom' "$bold"
  for word in "$@"; do case $word in *' '* | *'*'*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '%s\n' "$plain"
  "$fathom" "$@"
}

echo "A profile: what is it, where does the time go, and along which path?"
run info examples/stencil.cubex
run top examples/stencil.cubex
run tree examples/stencil.cubex --hot

echo
echo "An experiment: how does each part scale, and what will hurt at 4096 processes?"
run model examples/scaling.txt --at p=4096

echo
echo "A trace: what does each MPI call cost, and who sends to whom?"
run stats examples/ring/ring.meta --matrix

echo
echo "The same trace as a profile, and what a consultant would say first:"
run top examples/ring/ring.meta -n 5
run report examples/ring/ring.meta

echo
echo "In a browser, also through ssh: $fathom view examples/stencil.cubex examples/ring/ring.meta examples/scaling.txt"
