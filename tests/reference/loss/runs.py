"""A directory of runs: each is a repetition of its point, and all call paths that every point has are measured there."""
import re

import cube

FILES = ["extrap/inputs/cubeset/single_parameter", "extrap/inputs/cubeset/multi_parameter"]


def paths(root):
    """Call paths by the names of the regions, with how many call nodes have each."""
    names = {region.get("id"): region.findtext("name") for region in root.iter("region")}
    out, todo = {}, [((), node) for node in root.find("program").findall("cnode")]
    while todo:
        above, node = todo.pop()
        path = (*above, names[node.get("calleeId")])
        out[path] = out.get(path, 0) + 1
        todo += [(path, child) for child in node.findall("cnode")]
    return out


def found(folder):
    points = {}
    for run in sorted(folder.iterdir()):
        point, _, _ = re.match(r"(.*?)(\.r(\d+))?$", run.name).groups()
        files = cube.members(cube.unpacked(next(run.glob("*.cubex")).read_bytes()))
        points.setdefault(point, []).append(paths(cube.parsed(cube.unpacked(files["anchor.xml"]))))
    everywhere = set.intersection(*(set.union(*map(set, runs)) for runs in points.values()))
    return {"points": len(points), "contexts": len(everywhere)}
