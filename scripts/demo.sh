#!/bin/sh
# demo.sh FATHOM: the main job on the datasets in examples/, command by command.
set -eu
cd "$(dirname "$0")/.."
fathom=$1

run() {
  printf '\n\033[1m$ fathom'
  for word in "$@"; do case $word in *' '* | *'*'*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\033[0m\n'
  "$fathom" "$@"
}

echo "A profile: what is it, where does the time go, and along which path?"
run info examples/stencil.cubex
run top examples/stencil.cubex
run tree examples/stencil.cubex --hot

echo
echo "An experiment: how does each part scale, and what will hurt at 4096 processes?"
run model examples/scaling.txt --at p=4096
