"""A directory of runs: each is a repetition of its point, and all call paths that every point has are measured there: own values of the metrics at
the top of the tree of metrics, as means over locations and repetitions."""
import collections
import json
import math
import re
import shutil
import struct

import cube

FILES = ["extrap/inputs/cubeset/single_parameter", "extrap/inputs/cubeset/multi_parameter", "extrap/inputs/cubeset/allowed_formats"]


def built(data, temporary):
    """Profiles of several locations as if they were of different sizes."""
    for name in ("calltree", "btmz48", "threaded_f1", "dense"):
        profile = data / "cube" / name / f"{name}.cubex"
        if not profile.exists():
            continue
        for run in ("app.p2.r1", "app.p4.r1", "app.p4.r2"):
            (temporary / name / run).mkdir(parents=True)
            shutil.copy(profile, temporary / name / run / "profile.cubex")
        yield f"runs of {name}", temporary / name


def paths(root):
    """The call nodes of every call path by the names of its regions."""
    names = {region.get("id"): region.findtext("name") for region in root.iter("region")}
    out, todo = {}, [((), node) for node in root.find("program").findall("cnode")]
    while todo:
        above, node = todo.pop()
        path = (*above, names[node.get("calleeId")])
        out.setdefault(path, []).append(node)
        todo += [(path, child) for child in node.findall("cnode")]
    return out


def depth_first(nodes):
    for node in nodes:
        yield node
        yield from depth_first(node.findall("cnode"))


def by_siblings(node):
    yield from node.findall("cnode")
    for child in node.findall("cnode"):
        yield from by_siblings(child)


def own_values(root, files, metric):
    """The values of all locations per call node."""
    index, data = files[f"{metric.get('id')}.index"], files[f"{metric.get('id')}.data"]
    letter, count = cube.TYPES.get(metric.findtext("dtype"), "d"), len(list(root.iter("location")))
    inclusive = metric.get("type") in ("INCLUSIVE", "SIMPLE")
    roots = root.find("program").findall("cnode")
    order = [one for node in roots for one in (node, *by_siblings(node))] if inclusive else list(depth_first(roots))
    ids = struct.unpack_from(f"<{(len(index) - 22) // 4}I", index, 22) if index[17] == 1 else range(len(order))
    rows = {order[at].get("id"): struct.unpack(byte_order + letter * count, row)
            for at, (byte_order, row) in zip(ids, cube.rows(index, data, struct.calcsize("=" + letter) * count))}
    if not inclusive:
        return rows
    none = (0,) * count
    return {node.get("id"): [whole - sum(inside) for whole, *inside in
                             zip(rows.get(node.get("id"), none), *(rows.get(one.get("id"), none) for one in node.findall("cnode")))]
            for node in order}


def parameters(name):
    """Behind the first point, without the repetition."""
    name = re.sub(r"\.r\d+$", "", name.partition(".")[2] or name)
    return {key: float(value.rstrip(".,").replace(",", ".")) for key, value in re.findall(r"([a-z]+)(\d[\d.,]*)", name)}


def add(files, point, points, values):
    root = cube.parsed(cube.unpacked(files["anchor.xml"]))
    own = paths(root)
    points.setdefault(point, []).append(own)
    for metric in root.find("metrics").findall("metric"):
        if f"{metric.get('id')}.data" in files:
            cells = own_values(root, files, metric)
            for path, nodes in own.items():
                values[metric.findtext("uniq_name"), path, point] += [value for node in nodes for value in cells.get(node.get("id"), [0])]


def found(folder):
    points, values = {}, collections.defaultdict(list)
    runs = sorted(folder.iterdir())
    varies = {key for run in runs for key in parameters(run.name) if len({parameters(one.name)[key] for one in runs}) > 1}
    for run in runs:
        point = json.dumps({key: value for key, value in parameters(run.name).items() if key in varies}, sort_keys=True)
        for file in sorted(run.glob("*.cubex")):
            add(cube.members(cube.unpacked(file.read_bytes())), point, points, values)
    everywhere = set.intersection(*(set.union(*map(set, runs)) for runs in points.values()))
    means = {key: math.fsum(some) / len(some) for key, some in values.items() if key[1] in everywhere}
    return {"points": len(points), "contexts": len(everywhere), "means": shown(means)}


def shown(means):
    return sorted(f"{metric} of {'->'.join(path)} at {point}: {value:.9g}" for (metric, path, point), value in means.items() if value)


def flat(value):
    return [one for part in value for one in flat(part)] if isinstance(value, list) else [value]


def measured(level):
    means = {}
    for line in level.run("convert", level.dataset, "-", "--to", "extrap-jsonl", "--quiet").stdout.splitlines():
        one = json.loads(line)
        point = json.dumps({key: float(value) for key, value in one["params"].items()}, sort_keys=True)
        numbers = flat(one["value"])
        means[one["metric"], tuple(one["callpath"].split("->")), point] = math.fsum(numbers) / len(numbers)
    return shown(means)


LEVEL = {"means": measured}
