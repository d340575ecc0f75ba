"""HPCToolkit with meta.db: contexts of the tree with their parents, edges and names, values of all profiles but the summary per metric and scope,
samples and what they are called."""
import collections
import math
import struct

FILES = ["hpctoolkit/*/meta.db"]
MADE = [("stencil.cubex", "", "meta.db")]


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


def scopes(meta):
    """The id of a value -> (metric, scope)."""
    section = struct.unpack_from("<Q", meta, 0x10 + 2 * 16 + 8)[0]
    metrics, count = struct.unpack_from("<QI", meta, section)
    metric_size, scope_size = meta[section + 12], meta[section + 13]
    out = {}
    for i in range(count):
        name, instances, _, n = struct.unpack_from("<QQQH", meta, metrics + i * metric_size)
        for k in range(n):
            scope, identifier = struct.unpack_from("<QH", meta, instances + k * scope_size)
            out[identifier] = (text(meta, name), text(meta, struct.unpack_from("<Q", meta, scope)[0]))
    return out


EDGES = {0: "lexical", 1: "call", 2: "inlined"}
FUNCTION, LOOP, LINE = range(3)


def place(meta, file, line):
    return f"{text(meta, struct.unpack_from('<8xQ', meta, file)[0]).rpartition('/')[2]}:{line}"


def name_of(meta, at):
    """What a context is called, as far as the file has a name for it."""
    flags, kind, at = meta[at + 0x14], meta[at + 0x16], at + 32
    function = struct.unpack_from("<Q", meta, at)[0] if flags & 1 else None
    at += 8 if flags & 1 else 0
    file, line = struct.unpack_from("<QI", meta, at) if flags & 2 else (0, 0)
    if kind == FUNCTION and function:
        name = struct.unpack_from("<Q", meta, function)[0]
        return (text(meta, name) if name else "") or None
    if kind in (LOOP, LINE) and file:
        return ("loop at " if kind == LOOP else "") + place(meta, file, line)
    return None


def contexts(meta):
    """Of every context by its id the one above, the kind of the edge and the name; entry points included."""
    section = struct.unpack_from("<Q", meta, 0x10 + 3 * 16 + 8)[0]
    entries, count = struct.unpack_from("<QH", meta, section)
    stride = meta[section + 10]
    out, todo = {}, []
    for i in range(count):
        size, children, identifier, name = struct.unpack_from("<QQI4xQ", meta, entries + i * stride)
        out[identifier] = ("", "call", text(meta, name) if name else None)
        todo.append((children, size, identifier))
    while todo:
        at, size, above = todo.pop()
        end = at + size
        while at < end:
            below, children, identifier = struct.unpack_from("<QQI", meta, at)
            out[identifier] = (above, EDGES[meta[at + 0x15]], name_of(meta, at))
            todo.append((children, below, identifier))
            at += 32 + 8 * meta[at + 0x17]
    return out


def function_of(tree, context):
    """Loops and lines are a part of what is called."""
    while tree[context][1] == "lexical" and tree[context][0] != "":
        context = tree[context][0]
    return context


def profiles(folder):
    """(id of the context, id of the value, the value) of every value that is not zero, of all profiles but the summary."""
    data = (folder / "profile.db").read_bytes()
    section = struct.unpack_from("<Q", data, 0x18)[0]
    first, count = struct.unpack_from("<QI", data, section)
    stride = data[section + 12]
    for i in range(1, count):
        n, values, listed, indices = struct.unpack_from("<QQI4xQ", data, first + i * stride)
        index = [struct.unpack_from("<IQ", data, indices + 12 * k) for k in range(listed)] + [(0, n)]
        for (context, begin), (_, end) in zip(index, index[1:]):
            for k in range(begin, end):
                metric, value = struct.unpack_from("<Hd", data, values + 10 * k)
                if value != 0:
                    yield context, metric, value


def samples(folder):
    """Contexts of all samples."""
    trace = (folder / "trace.db").read_bytes()
    section = struct.unpack_from("<Q", trace, 0x18)[0]
    first, count = struct.unpack_from("<QI", trace, section)
    lines = [struct.unpack_from("<QQ", trace, first + i * trace[section + 12] + 8) for i in range(count)]
    return [struct.unpack_from("<I", trace, at + 8)[0] for begin, end in lines for at in range(begin, end - 11, 12)]


def found(path):
    folder, meta = path.parent, path.read_bytes()
    tree = contexts(meta)
    cells, sums = collections.Counter(), collections.defaultdict(list)
    for context, metric, value in profiles(folder):
        if context in tree:
            cells[metric] += 1
            sums[metric].append(value)
    NAMED.clear()
    NAMED.update(identifier for identifier, (_, _, name) in tree.items() if name)
    out = {"contexts": len(tree), "edges": sorted(f"{one} below {above}: {edge}" for one, (above, edge, _) in tree.items()),
           "names": sorted(f"{one}: {tree[one][2]}" for one in NAMED)}
    for identifier, (metric, scope) in scopes(meta).items():
        out[f"scope {scope} cells of {metric}"] = cells[identifier]
        out[f"scope {scope} sum of {metric}"] = math.fsum(sums[identifier])
    if (folder / "trace.db").exists() and samples(folder):
        out["level events"] = len(samples(folder))
        out["contexts of samples"] = sorted(samples(folder))
        owners = collections.Counter(function_of(tree, one) for one in samples(folder) if one in tree)
        out["samples of functions"] = sorted(f"{one}: {count}" for one, count in owners.items())
        out["names of samples"] = sorted(f"{one}: {tree[one][2]}" for one in samples(folder) if one in NAMED)
    return out


NAMED = set()  # contexts that the file at hand has names for; what we call the others is up to us


def edges(level):
    return sorted(f"{row['id']} below {row['parent']}: {row['edge']}" for row in level.table("context"))


def names(level):
    return sorted(f"{row['id']}: {row['name']}" for row in level.table("context") if int(row["id"]) in NAMED)


def names_of_samples(level):
    return sorted(f"{row['context']}: {row['name']}" for row in level.table("event") if row["context"] and int(row["context"]) in NAMED)


def samples_of_functions(level):
    return sorted(f"{row['context']}: {row['count']}" for row in level.rows("stats", level.dataset, "--by", "context", "--csv") if row["context"])


LEVEL = {"edges": edges, "samples of functions": samples_of_functions, "names": names, "names of samples": names_of_samples}
