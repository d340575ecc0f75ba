"""Extra-P 3: records one after the other, each with the name of its kind."""
import collections
import math

from binary import Reader

FILES = ["extrap/inputs/input/experiment_3*", "extrap/errors/extrap3_*"]


class Records(Reader):
    def text(self):
        return self.bytes(self.take("I")).decode() if self.at < len(self.data) else ""

    def compound(self):
        self.take("d")
        for _ in range(self.take("q")):
            self.text()  # SimpleTerm
            self.text()
            self.take("d")

    def sparse_block(self):
        """Old files do not have it: read on trial."""
        begin = self.at
        try:
            self.take("q")
            first = self.text()
            self.take("qq")
            second = self.text()
        except (ValueError, UnicodeDecodeError):
            first = second = ""
        if first in ("FIRST_POINTS_FOUND", "MAX_NUMBER_POINTS", "CHEAPEST_POINTS") and second.endswith("CREASING_COST"):
            return True
        self.at = begin
        return False

    def function(self):
        kind = self.text()
        if kind == "SingleParameterFunction":
            self.take("d")
            for _ in range(self.take("q")):
                self.text()
                self.compound()
        elif kind == "MultiParameterFunction":
            self.take("d")
            for _ in range(self.take("q")):
                self.take("d")
                for _ in range(self.take("q")):
                    self.text()
                    self.text()
                    self.compound()
        elif kind == "SimpleTerm":
            self.text()
            self.take("d")
        elif kind == "CompoundTerm":
            self.compound()


def found(path):
    data = path.read_bytes()
    file = Records(data, "<" if data[:2] == b"\x01\0" else ">", 2)
    if file.text() != "EXTRAP_EXPERIMENT":
        return None
    file.text()
    counts = {"measurements": 0, "contexts": 0, "model": 0}
    sparse, figures = False, collections.defaultdict(list)
    while kind := file.text():
        if kind in ("Parameter", "ModelComment"):
            file.take("q")
            file.text()
        elif kind == "Metric":
            file.take("q")
            file.text()
            file.text()
        elif kind == "Region":
            file.take("q")
            file.text()
            file.text()
            file.take("q")
        elif kind == "Callpath":
            file.take("qqq")
            counts["contexts"] += 1
        elif kind == "Coordinate":
            file.take("q")
            for _ in range(file.take("q")):
                file.text()
                file.take("d")
        elif kind.startswith("SingleParameter"):
            file.text()
            file.text()
            file.take("d")
            file.text()
            sparse |= file.sparse_block()
            if "Simple" in kind:
                for _ in range(file.take("q")):
                    file.text()
                    file.compound()
                file.take("q")
        elif kind.startswith("MultiParameter"):
            file.text()
            file.text()
            sparse |= file.sparse_block()
        elif kind == "ExperimentPoint":
            numbers = file.take("qq9dqq")
            counts["measurements"] += 1
            for at, name in ((2, "mean"), (5, "deviation"), (6, "median"), (9, "minimum"), (10, "maximum")):
                figures[name].append(numbers[at])
        elif kind == "Model":
            file.take("qqq")
            for _ in range(7):
                file.function()
            file.take("dddd" if sparse else "ddd")
            for _ in range(file.take("q")):
                file.take("q")
            for _ in range(file.take("q")):
                file.text()
                for _ in range(file.take("q")):
                    file.take("dd")
            counts["model"] += 1
        else:
            raise ValueError(kind)
    return counts | {f"sum of {name}s": math.fsum(numbers) for name, numbers in figures.items()}
