#!/usr/bin/env python3
"""Makes scaling.txt: a small experiment in Extra-P's text form, a solver on 4 to 64 processes, five repetitions."""
import math
import random

random.seed(42)
POINTS = [4, 8, 16, 32, 64]
REGIONS = {
    "main": lambda p: 0.8,
    "main->read_input": lambda p: 0.2 + 0.004 * p,
    "main->solve": lambda p: 1.5 + 0.9 * math.log2(p),
    "main->solve->stencil": lambda p: 24.0,
    "main->solve->exchange_halo": lambda p: 0.6 + 0.05 * math.sqrt(p),
    "main->solve->residual->MPI_Allreduce": lambda p: 0.05 + 0.12 * math.log2(p),
    "main->load_balance": lambda p: 0.01 + 0.0004 * p ** 1.5,
    "main->write_output": lambda p: 0.5 + 0.03 * p,
}

with open("scaling.txt", "w", encoding="utf-8") as out:
    out.write("# A solver on 4 to 64 processes, problem size per process fixed (weak scaling), made by make_scaling.py\n")
    out.write("PARAMETER p\nPOINTS " + " ".join(map(str, POINTS)) + "\n\nMETRIC time\n")
    for name, runtime in REGIONS.items():
        out.write(f"\nREGION {name}\n")
        for p in POINTS:
            values = (runtime(p) * random.uniform(0.98, 1.02) for _ in range(5))
            out.write("DATA " + " ".join(f"{v:.5f}" for v in values) + "\n")
