"""pprof: the sum of the values of all samples per sample type."""
import collections

import protobuf
from cube import unpacked

MADE = [("stencil.cubex", ".pb.gz", "")]
FILES = ["elsewhere/pprof/*"]


def found(path):
    profile = protobuf.fields(unpacked(path.read_bytes()))
    strings = [text.decode() for text in profile.get(6, [])]
    types = [strings[protobuf.fields(one).get(1, [0])[0]] for one in profile.get(1, [])]
    sums = [0] * len(types)
    for sample in profile.get(2, []):
        for at, value in enumerate(protobuf.integers(protobuf.fields(sample).get(2, []))):
            sums[at] += value
    return {f"total of {name}": total for name, total in zip(types, sums)} | {"stacks": stacks(profile, strings, types)}


def stacks(profile, strings, types):
    """Values per call path: of a place the innermost inlined line stands first, of a sample the leaf; without a name it is the address."""
    number = lambda fields, at: fields.get(at, [0])[0]
    functions = {number(one, 1): strings[number(one, 2)] for one in map(protobuf.fields, profile.get(5, []))}
    places = {}
    for place in map(protobuf.fields, profile.get(4, [])):
        places[number(place, 1)] = [functions[number(protobuf.fields(line), 1)] or hex(number(place, 3)) for line in place.get(4, [])] or [
            hex(number(place, 3))]
    out = collections.Counter()
    for sample in map(protobuf.fields, profile.get(2, [])):
        frames = [name for one in protobuf.integers(sample.get(1, [])) for name in places[one]]
        for name, value in zip(types, protobuf.integers(sample.get(2, []))):
            if frames:
                out[name, "->".join(reversed(frames))] += value
    return shown(out)


def shown(out):
    return sorted(f"{metric} of {stack}: {float(value):.9g}" for (metric, stack), value in out.items() if value)


def own_values(level):
    out = collections.Counter()
    for row in level.rows("table", level.dataset, "--exclusive", "--csv"):
        out[row["metric"], row["path"]] += float(row["value"])
    return shown(out)


LEVEL = {"stacks": own_values}
