#!/usr/bin/env python3
"""Makes gpu.sqlite and gpu.extra-prof.msgpack: what Nsight Systems and Extra-Prof record of a small CUDA program."""
import os
import sqlite3

if os.path.exists("gpu.sqlite"):
    os.remove("gpu.sqlite")
db = sqlite3.connect("gpu.sqlite")
db.executescript("""
PRAGMA page_size = 512;
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, correlationId INTEGER, shortName INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, correlationId INTEGER, copyKind INTEGER,
  srcKind INTEGER, dstKind INTEGER, bytes INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, correlationId INTEGER, memKind INTEGER,
  bytes INTEGER, value INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, correlationId INTEGER, syncType INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, domainId INTEGER,
  uint32Value INTEGER, globalTid INTEGER);
CREATE TABLE CUDA_CALLCHAINS(id INTEGER, symbol INTEGER, stackDepth INTEGER, unresolved INTEGER);
CREATE TABLE TARGET_INFO_GPU(smCount INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER);
""")
names = ["cudaMalloc_v3020", "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020", "cudaLaunchKernel_v7000",
         "cudaStreamSynchronize_v3020", "cudaFree_v3020", "stencil", "reduce", "main", "EXTRA_PROF_SYMBOLS",
         "EP\x1f4005d0\x1fmain", "EXTRA_PROF_SYMBOLS_END"]
db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names, 1))
us = 1000  # all times in microseconds, stored in nanoseconds
ranges = [("main", 0, 0, 1000), ("main->setup", 1, 10, 210), ("main->solve", 1, 220, 900), ("main->solve->step", 2, 230, 500)]
db.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'de.tu-darmstadt.parallel.extra_prof', 1, NULL, 7)")
for path, depth, start, end in ranges:
    db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, 1, ?, 7)", (start * us, end * us, path, depth))
calls = [(1, 1, 20, 80), (2, 2, 100, 110), (3, 3, 120, 125), (4, 4, 240, 250), (5, 4, 260, 265), (6, 5, 600, 800),
         (7, 6, 950, 970)]
for correlation, name, start, end in calls:
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 7, ?, ?, NULL)",
               (start * us, end * us, correlation, name))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 2, 1, 1, 2, 1048576)", (105 * us, 180 * us))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?, ?, 3, 2, 4096, 0)", (182 * us, 184 * us))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 4, 7, 64, 1, 1, 256, 1, 1)", (255 * us, 655 * us))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 5, 8, 64, 1, 1, 256, 1, 1)", (555 * us, 795 * us))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, 6, 3)", (602 * us, 798 * us))
db.execute("INSERT INTO TARGET_INFO_GPU VALUES (10, 32, 64, 8)")
db.commit()
db.execute("VACUUM")
db.close()


# The same program as Extra-Prof writes it: MessagePack, small enough for its shortest forms.
def pack(value):
    if isinstance(value, str):
        assert len(value) < 32
        return bytes([0xA0 | len(value)]) + value.encode()
    if isinstance(value, list):
        assert len(value) < 16
        return bytes([0x90 | len(value)]) + b"".join(map(pack, value))
    return b"\xce" + value.to_bytes(4, "big")


KERNEL_LAUNCH, KERNEL, MEMCPY, SYNCHRONIZE = 1, 2, 3, 5
ASYNCHRONOUS = 1


def node(name, duration, children=(), kind=0, flags=0, bytes_moved=0):
    return [name, list(children), kind, flags, [duration * us, duration * us], 1, bytes_moved]


root = node("", 0, [
    node("main", 1000, [
        node("setup", 200, [node("cudaMalloc", 60), node("HtoD", 75, (), MEMCPY, ASYNCHRONOUS, 1048576)]),
        node("solve", 680, [
            node("_Z7stencilPf", 10, [node("_Z7stencilPf", 400, (), KERNEL)], KERNEL_LAUNCH),
            node("cudaStreamSynchronize", 200, (), SYNCHRONIZE),
        ]),
    ]),
])
with open("gpu.extra-prof.msgpack", "wb") as out:
    out.write(pack(["EXTRA PROF", "1.0", root]))
