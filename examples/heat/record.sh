#!/bin/sh
# record.sh FATHOM MPICC MPIRUN: makes the runs in this folder anew, on this machine.
set -eu
cd "$(dirname "$0")"
fathom=$1 mpicc=$2 mpirun=$3
"$mpicc" -O2 -o heat heat.c -lm
rm -rf runs
for size in 128 256 512; do
  for ranks in 2 4 6 8; do
    "$fathom" record -o "runs/heat.p$ranks.n$size.r1" --no-cpu-time -- "$mpirun" -n "$ranks" ./heat "$size" 20
    rm "runs/heat.p$ranks.n$size.r1/dumpi.conf"
  done
done
rm heat
