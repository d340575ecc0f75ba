"""HPCToolkit with meta.db: contexts of the tree, values of all profiles but the summary per metric and scope, samples."""
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


def contexts(meta):
    """Ids of all contexts, entry points included."""
    section = struct.unpack_from("<Q", meta, 0x10 + 3 * 16 + 8)[0]
    entries, count = struct.unpack_from("<QH", meta, section)
    stride = meta[section + 10]
    out, todo = set(), []
    for i in range(count):
        size, children, identifier = struct.unpack_from("<QQI", meta, entries + i * stride)
        out.add(identifier)
        todo.append((children, size))
    while todo:
        at, size = todo.pop()
        end = at + size
        while at < end:
            below, children, identifier = struct.unpack_from("<QQI", meta, at)
            out.add(identifier)
            todo.append((children, below))
            at += 32 + 8 * meta[at + 0x17]
    return out


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
    out = {"contexts": len(tree)}
    for identifier, (metric, scope) in scopes(meta).items():
        out[f"scope {scope} cells of {metric}"] = cells[identifier]
        out[f"scope {scope} sum of {metric}"] = math.fsum(sums[identifier])
    if (folder / "trace.db").exists() and samples(folder):
        out["level events"] = len(samples(folder))
        out["contexts of samples"] = sorted(samples(folder))
    return out
