"""Nsight Systems: rows of the tables of calls and activities, each an enter and a leave of the trace."""
import gzip
import sqlite3
import tempfile

FILES = ["elsewhere/nsight/*.sqlite.gz", "extrap/gpu/nsight_*.tar.gz"]
MEMBERS = "**/*.sqlite"
EXAMPLES = ["gpu.sqlite"]


def found(path):
    with tempfile.NamedTemporaryFile() as copy:
        data = path.read_bytes()
        copy.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        copy.flush()
        base = sqlite3.connect(f"file:{copy.name}?mode=ro", uri=True)
        tables = {name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        count = lambda table, where="1": base.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0] if table in tables else 0
        calls = "CUPTI_ACTIVITY_KIND_RUNTIME"
        columns = {row[1] for row in base.execute(f"PRAGMA table_info({calls})")}
        slices = count(calls, "eventClass IN (0, 1)" if "eventClass" in columns else "1")
        slices += sum(count(f"CUPTI_ACTIVITY_KIND_{kind}") for kind in ("KERNEL", "MEMCPY", "MEMSET"))
        slices += count("OSRT_API") + count("NVTX_EVENTS", "eventType = 59 AND end IS NOT NULL")
        slices += sum(count(f"MPI_{kind}_EVENTS") for kind in ("P2P", "START_WAIT", "COLLECTIVES", "OTHER"))
        base.close()
    return {"events enter": slices, "events leave": slices}
