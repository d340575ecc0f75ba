"""pprof: the sum of the values of all samples per sample type."""
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
    return {f"total of {name}": total for name, total in zip(types, sums)}
