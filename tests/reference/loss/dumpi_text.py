"""Text dumps of DUMPI: a call begins with a line 'NAME entering at walltime ...'."""
import collections
import re

FILES = ["dumpi/**/*.dumpi.txt", "dumpi/**/*.ascii", "dumpi/**/*.txt", "dumpi/**/*.txt.gz"]
EXAMPLES = ["ring/ring-0000.dumpi.txt"]


def found(path):
    names = re.findall(r"^(MPI_(?!Pcontrol)\w+) entering at ", path.read_text(errors="replace"), re.MULTILINE)
    return {"calls per function": sorted(collections.Counter(names).values())}
