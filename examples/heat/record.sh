#!/bin/sh
# record.sh FATHOM MPICC MPIRUN: makes the runs in this folder anew, on this machine: two lines through p=4, n=512, and a corner.
set -eu
cd "$(dirname "$0")"
fathom=$1 mpicc=$2 mpirun=$3
"$mpicc" -O2 -o heat heat.c -lm
rm -rf runs
for point in 2,512 4,512 6,512 8,512 10,512 4,128 4,256 4,768 4,1024 8,1024; do
  ranks=${point%,*} size=${point#*,}
  run=runs/heat.p$ranks.n$size.r1
  # The fastest of three: what else the machine did meanwhile is not the subject.
  least=
  for try in 1 2 3; do
    took=$("$fathom" record -o "try" --no-cpu-time -- "$mpirun" -n "$ranks" ./heat "$size" 10 | sed 's/.* in \(.*\) s$/\1/')
    if [ -z "$least" ] || [ "$(printf '%s\n' "$took" "$least" | sort -n | head -1)" = "$took" ]; then
      least=$took
      rm -rf "$run"
      mkdir -p "$run"
      # Names without the date: the run is named by its folder.
      for file in try/dumpi-*; do mv "$file" "$run/heat${file##*dumpi-????.??.??.??.??.??}"; done
      sed -i 's/^fileprefix=.*/fileprefix=heat/' "$run/heat.meta"
    fi
    rm -rf try
  done
  echo "$run: $least s"
done
rm heat
