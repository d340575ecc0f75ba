"""What the cases share: the program under test, and one output of each of its writers."""
import pathlib
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = PROJECT / "examples"
FATHOM = pathlib.Path(sys.argv[1]).resolve()
NOBODY = 65534


class Skip(Exception):
    pass


def fathom(*arguments, prepare=None, timeout=120, **more):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, timeout=timeout, preexec_fn=prepare, **more)


def snapshot(folder):
    """Every file below the folder, hidden ones too, with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


# One output of every writer: name, OUT, what is called; {O} is where OUT is.
def convert(name, source, out):
    return name, out, ["convert", EXAMPLES / source, "{O}", "--to", name]


WRITERS = [
    convert("cube", "stencil.cubex", "out.cubex"),
    convert("cube3", "stencil.cubex", "out.cube"),
    convert("hpctoolkit", "stencil.cubex", "meta"),
    convert("hpctoolkit-xml", "stencil.cubex", "xml"),
    convert("pprof", "stencil.cubex", "out.pb.gz"),
    convert("callgrind", "stencil.cubex", "out.callgrind"),
    convert("folded", "stencil.cubex", "out.folded"),
    convert("dot", "stencil.cubex", "out.dot"),
    convert("dumpi", "ring", "out.meta"),
    convert("dumpi-text", "ring/ring-0000.bin", "out.dumpi.txt"),
    convert("paraver", "ring", "out.prv"),
    convert("otf2", "ring", "out.otf2"),
    convert("chrome", "ring", "out.trace.json"),
    convert("perfetto", "ring", "out.pftrace"),
    convert("speedscope", "ring", "out.speedscope.json"),
    convert("ovni", "ovni", "trace"),
    convert("extrap-text", "scaling.txt", "out.txt"),
    convert("extrap-json", "scaling.txt", "out.json"),
    convert("extrap-jsonl", "scaling.txt", "out.jsonl"),
    convert("extra-p", "scaling.txt", "out.extra-p"),
    ("tables as CSV", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "csv"]),
    ("tables as JSON", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "json"]),
    ("tables as Parquet", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "parquet"]),
    ("a table as CSV", "out.csv", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value"]),
    ("a table as JSON", "out.json", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value", "--to", "json"]),
    ("a table as Parquet", "out.parquet", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value"]),
    ("a query as CSV", "out.csv", ["sql", EXAMPLES / "stencil.cubex", "SELECT * FROM total ORDER BY ALL", "-o", "{O}"]),
    ("a query as Parquet", "out.parquet", ["sql", EXAMPLES / "stencil.cubex", "SELECT * FROM total ORDER BY ALL", "-o", "{O}"]),
    ("views of ovni", "views", ["emulate", EXAMPLES / "ovni", "-o", "{O}"]),
    ("a sorted trace", "sorted", ["sort", EXAMPLES / "ovni", "-o", "{O}"]),
    ("models", "out.extra-p", ["model", EXAMPLES / "scaling.txt", "--save", "{O}"]),
    ("a plot", "out.svg", ["model", EXAMPLES / "scaling.txt", "--plot", "{O}"]),
    ("a plot as PDF", "out.pdf", ["model", EXAMPLES / "scaling.txt", "--plot", "{O}"]),
    ("a page", "out.html", ["report", EXAMPLES / "stencil.cubex", "-o", "{O}"]),
    ("a difference", "out.cubex", ["diff", EXAMPLES / "stencil.cubex", EXAMPLES / "stencil.cubex", "-o", "{O}"]),
]
MAY_BE_MISSING = ("Parquet", "query", "PDF", "otf2", "page")  # needs a library that is not everywhere


def writers(scratch):
    """Those that work here, each with the files that it writes."""
    for name, out, command in WRITERS:
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        done = write(command, folder / out)
        if done.returncode == 2 and any(word in name for word in MAY_BE_MISSING):
            continue
        check(done.returncode == 0, name, done.stderr)
        yield name, out, command, folder, snapshot(folder)


def write(command, target, **more):
    return fathom(*(target if word == "{O}" else word for word in command), **more)


def many_ranks(scratch):
    """A DUMPI run that takes a while to write."""
    source = scratch / "run"
    source.mkdir()
    names = [f"big-{rank:04}.bin" for rank in range(300)]
    for rank, name in enumerate(names):
        shutil.copy(EXAMPLES / "ring" / f"ring-{rank % 4:04}.bin", source / name)
    (source / "big.meta").write_text("hostname=h\nnumprocs=300\nfileprefix=big\n")
    return source / "big.meta"
