#!/usr/bin/env python3
"""Makes examples/stencil.cubex: the profile of an imagined heat-equation solver on 4 nodes, 16 ranks.

The numbers come from a small cost model, not from a measurement: the outer ranks own less of the domain, rank 5 sits on
a slow node, so that there is something to find. Output is the same on every run.
"""
import io
import pathlib
import random
import struct
import tarfile

RANKS = 16
RANKS_PER_NODE = 4
STEPS = 500

# id -> (name, file, begin, end, paradigm, role)
REGIONS = [
    ("stencil", "src/main.cpp", 1, 90, "compiler", "function"),
    ("MPI_Init", "", -1, -1, "mpi", "function"),
    ("read_input(std::filesystem::path const&)", "src/input.cpp", 12, 61, "compiler", "function"),
    ("MPI_Bcast", "", -1, -1, "mpi", "one2all"),
    ("solve(Grid<double, 3>&, int)", "src/solve.cpp", 20, 118, "compiler", "function"),
    ("exchange_halo(Grid<double, 3>&)", "src/halo.cpp", 15, 84, "compiler", "function"),
    ("MPI_Irecv", "", -1, -1, "mpi", "point2point"),
    ("MPI_Isend", "", -1, -1, "mpi", "point2point"),
    ("MPI_Waitall", "", -1, -1, "mpi", "point2point"),
    ("apply_stencil(Grid<double, 3> const&, Grid<double, 3>&)", "src/solve.cpp", 130, 171, "compiler", "function"),
    ("residual(Grid<double, 3> const&)", "src/solve.cpp", 180, 204, "compiler", "function"),
    ("MPI_Allreduce", "", -1, -1, "mpi", "all2all"),
    ("write_checkpoint(Grid<double, 3> const&)", "src/output.cpp", 8, 55, "compiler", "function"),
    ("MPI_File_write_all", "", -1, -1, "mpi", "file io"),
    ("MPI_Finalize", "", -1, -1, "mpi", "function"),
]

# The call tree as (region, children); ids are given depth first.
TREE = (0, [(1, []), (2, [(3, [])]),
            (4, [(5, [(6, []), (7, []), (8, [])]), (9, []), (10, [(11, [])]), (12, [(13, [])])]),
            (14, [])])


def costs(rank):
    """Own seconds, visits and bytes of every region on one rank."""
    rng = random.Random(rank)
    noise = lambda: 1 + 0.02 * rng.random()
    share = 0.8 if rank in (0, RANKS - 1) else 1.0
    slow = 1.35 if rank == 5 else 1.0
    compute = STEPS * 4.1e-3 * share * slow * noise()
    residual = STEPS * 0.6e-3 * share * slow * noise()
    slowest = STEPS * 4.7e-3 * 1.35 * 1.02
    wait = max(0.05, slowest - compute - residual)
    neighbours = 1 if rank in (0, RANKS - 1) else 2
    halo = 512 * 512 * 8
    return {
        0: (0.004 * noise(), 1, 0), 1: (0.210 * noise(), 1, 0), 2: (0.030 * noise() if rank == 0 else 0.002, 1, 0),
        3: (0.012 * noise(), 4, 65536), 4: (0.015 * noise(), 1, 0), 5: (STEPS * 2e-5 * noise(), STEPS, 0),
        6: (STEPS * neighbours * 3e-6, STEPS * neighbours, 0),
        7: (STEPS * neighbours * 8e-6, STEPS * neighbours, STEPS * neighbours * halo),
        8: (0.7 * wait, STEPS, 0), 9: (compute, STEPS, 0), 10: (residual, STEPS, 0),
        11: (0.3 * wait + STEPS * 2e-5, STEPS, STEPS * 8), 12: (0.020 * noise(), 5, 0),
        13: (0.180 * noise(), 5, 5 * halo), 14: (0.050 * noise(), 1, 0),
    }


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def anchor():
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">',
           '<attr key="Creator" value="Fathom example"/>', '<attr key="Cube Version" value="4.8.2"/>',
           '<attr key="CubePL Version" value="1.1"/>', '<doc>', '<mirrors>', '</mirrors>', '</doc>', '<metrics>']
    for i, (name, title, dtype, unit, text) in enumerate(METRICS):
        out.append(f'<metric id="{i}" type="EXCLUSIVE"><disp_name>{title}</disp_name><uniq_name>{name}</uniq_name>'
                   f'<dtype>{dtype}</dtype><uom>{unit}</uom><url></url><descr>{text}</descr></metric>')
    out += ['</metrics>', '<program>']
    for i, (name, file, begin, end, paradigm, role) in enumerate(REGIONS):
        out.append(f'<region id="{i}" mod="{file}" begin="{begin}" end="{end}"><name>{escape(name)}</name>'
                   f'<mangled_name>{escape(name)}</mangled_name><paradigm>{paradigm}</paradigm><role>{role}</role>'
                   f'<url></url><descr></descr></region>')
    number = 0

    def cnode(node):
        nonlocal number
        out.append(f'<cnode id="{number}" calleeId="{node[0]}">')
        number += 1
        for child in node[1]:
            cnode(child)
        out.append('</cnode>')

    cnode(TREE)
    out += ['</program>', '<system>', '<systemtreenode Id="0"><name>cluster</name><class>machine</class>']
    for node in range(RANKS // RANKS_PER_NODE):
        out.append(f'<systemtreenode Id="{node + 1}"><name>node{node:02}</name><class>node</class>')
        for rank in range(node * RANKS_PER_NODE, (node + 1) * RANKS_PER_NODE):
            out.append(f'<locationgroup Id="{rank}"><name>MPI Rank {rank}</name><rank>{rank}</rank>'
                       f'<type>process</type><location Id="{rank}"><name>Master thread</name><rank>0</rank>'
                       f'<type>thread</type></location></locationgroup>')
        out.append('</systemtreenode>')
    out += ['</systemtreenode>', '</system>', '</cube>', '']
    return "\n".join(out).encode()


METRICS = [
    ("visits", "Visits", "UINT64", "occ", "Number of visits"),
    ("time", "Time", "DOUBLE", "sec", "Wall clock time"),
    ("bytes_sent", "Bytes sent", "UINT64", "bytes", "Bytes handed to MPI"),
]


def depth_first(node):
    yield node[0]
    for child in node[1]:
        yield from depth_first(child)


def main():
    per_rank = [costs(rank) for rank in range(RANKS)]
    members = []
    for metric, code in enumerate("QdQ"):
        column = {0: 1, 1: 0, 2: 2}[metric]
        rows = [(k, [c[region][column] for c in per_rank]) for k, region in enumerate(depth_first(TREE))]
        rows = [(k, row) for k, row in rows if any(row)]
        index = b"CUBEX.INDEX" + struct.pack("<IHBI", 1, 0, 1, len(rows)) + b"".join(struct.pack("<I", k) for k, _ in rows)
        data = b"CUBEX.DATA" + b"".join(struct.pack(f"<{RANKS}{code}", *row) for _, row in rows)
        members += [(f"{metric}.data", data), (f"{metric}.index", index)]
    members.append(("anchor.xml", anchor()))
    target = pathlib.Path(__file__).with_name("stencil.cubex")
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            assert len(content) % 512, "pad differently: Cube readers expect one more block here"
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.uname, info.gname = len(content), 0o600, "nouser", "users"
            archive.addfile(info, io.BytesIO(content))


if __name__ == "__main__":
    main()
