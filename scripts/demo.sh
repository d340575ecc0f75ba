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
echo "The whole line: a program recorded at 2 to 10 ranks (examples/heat), one of the traces as a profile, all of them as models:"
run info examples/heat/runs
run top examples/heat/runs/heat.p4.n512.r1 -n 4
run model examples/heat/runs --metric bytes_sent --metric time -n 6 --at p=64,n=4096

echo
echo "All of it as one page, to look at and to share:"
mkdir -p build/demo
run report examples/stencil.cubex examples/ring/ring.meta examples/scaling.txt -o build/demo/report.html

echo
echo "Open build/demo/report.html in a browser, or look at the data themselves, also through ssh:"
echo "  $fathom view examples/stencil.cubex examples/ring/ring.meta examples/scaling.txt"
