"""Reads an HPCToolkit database (meta.db or experiment.xml 4.0) from the description of its format alone, checks its
structure, and prints every value: metric, scope, context, profile, value. Any defect ends it with an error.

Usage: read_database.py DIRECTORY
"""
import collections
import os
import struct
import sys
import xml.etree.ElementTree as xml_tree


def check(condition, text):
    if not condition:
        sys.exit("defect: " + text)


def load(directory, name):
    with open(os.path.join(directory, name), "rb") as file:
        return file.read()


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Meta:
    """meta.db: {metric id: (metric, scope)}, {statistic id: (metric, scope, formula, combine)}, contexts with parents."""

    def __init__(self, directory):
        data = load(directory, "meta.db")
        check(data[:14] == b"HPCTOOLKITmeta" and data[14] == 4, "magic or version of meta.db")
        check(data.endswith(b"_meta.db"), "footer of meta.db")
        check(len(data) % 8 == 0, "meta.db is not aligned")
        sections = [struct.unpack_from("<QQ", data, 0x10 + 16 * i) for i in range(8)]
        for size, at in sections:
            check(at + size <= len(data), "a section lies outside meta.db")
        self.values, self.statistics = {}, {}
        at = sections[2][1]
        metrics, count, metric_size, instance_size, summary_size = struct.unpack_from("<QIBBB", data, at)
        for i in range(count):
            name, instances, summaries, n_instances, n_summaries = struct.unpack_from("<QQQHH", data, metrics + i * metric_size)
            name = text_at(data, name)
            for k in range(n_instances):
                scope, number = struct.unpack_from("<QH", data, instances + k * instance_size)
                scope = text_at(data, struct.unpack_from("<Q", data, scope)[0])
                self.values[number] = (name, scope)
            for k in range(n_summaries):
                scope, formula, combine, number = struct.unpack_from("<QQBxH", data, summaries + k * summary_size)
                scope = text_at(data, struct.unpack_from("<Q", data, scope)[0])
                self.statistics[number] = (name, scope, text_at(data, formula), combine)
        entries, count, size = struct.unpack_from("<QHB", data, sections[3][1])
        functions = struct.unpack_from("<QIH", data, sections[7][1])
        self.parents = {}
        pending = []
        for i in range(count):
            child_bytes, children, number, _, _, name = struct.unpack_from("<QQIHHQ", data, entries + i * size)
            text_at(data, name)
            self.parents[number] = 0
            pending.append((children, child_bytes, number))
        while pending:
            at, length, parent = pending.pop()
            end = at + length
            while at < end:
                child_bytes, children, number, flags, relation, lexical, words, bits = struct.unpack_from("<QQIBBBBH", data, at)
                check(number > 0 and number not in self.parents, "context id %d" % number)
                check((relation == 0) == (bits & 1 == 1), "propagation bit of context %d" % number)
                if flags & 1:
                    function = struct.unpack_from("<Q", data, at + 32)[0]
                    check((function - functions[0]) % functions[2] == 0, "function of context %d" % number)
                    check((function - functions[0]) // functions[2] < functions[1], "function of context %d" % number)
                    text_at(data, struct.unpack_from("<Q", data, function)[0])
                self.parents[number] = parent
                pending.append((children, child_bytes, number))
                at += 32 + 8 * words
            check(at == end, "children of context %d" % parent)


class Xml:
    def __init__(self, directory):
        root = xml_tree.parse(os.path.join(directory, "experiment.xml")).getroot()
        check(root.get("version") == "4.0", "version of experiment.xml")
        self.values, self.statistics, self.parents = {}, {}, {}
        names = {"I": "execution", "E": "function"}
        for column in root.iter("MetricDB"):
            name, scope = column.get("n")[:-4], names[column.get("n")[-2]]
            base = int(column.get("i")) - (2 if scope == "execution" else 1)
            self.values[int(column.get("i"))] = (name, scope)
            for k, (formula, combine) in enumerate([("1", 0), ("$$", 0), ("($$^2)", 0), ("$$", 1), ("$$", 2)]):
                number = base + 3 * k + (2 if scope == "execution" else 1)
                self.statistics[number] = (name, scope, formula, combine)
        pending = [(child, 0) for child in root.iter("SecCallPathProfileData")]
        while pending:
            element, parent = pending.pop()
            number = int(element.get("i", "0"))
            if number > 0:
                check(number not in self.parents, "context id %d" % number)
                self.parents[number] = parent
                parent = number
            pending += [(child, parent) for child in element]


def read_meta_values(directory):
    data = load(directory, "profile.db")
    check(data[:14] == b"HPCTOOLKITprof" and data.endswith(b"_prof.db") and len(data) % 4 == 0, "profile.db")
    section = struct.unpack_from("<Q", data, 0x18)[0]
    at, count, size = struct.unpack_from("<QIB", data, section)
    profiles = []
    for i in range(count):
        n, values, contexts, indices, tuple_at, flags = struct.unpack_from("<QQI4xQQI", data, at + i * size)
        check(flags == (1 if i == 0 else 0), "flags of profile %d" % i)
        check(values % 2 == 0 and indices % 4 == 0, "alignment of profile %d" % i)
        if i > 0:
            check(struct.unpack_from("<H", data, tuple_at)[0] > 0, "identifier tuple of profile %d" % i)
        slots = [struct.unpack_from("<IQ", data, indices + 12 * k) for k in range(contexts)] + [(None, n)]
        profiles.append([(slots[k][0], [struct.unpack_from("<Hd", data, values + 10 * j)
                                        for j in range(slots[k][1], slots[k + 1][1])]) for k in range(contexts)])
    data = load(directory, "cct.db")
    check(data[:14] == b"HPCTOOLKITctxt" and data.endswith(b"__ctx.db") and len(data) % 4 == 0, "cct.db")
    section = struct.unpack_from("<Q", data, 0x18)[0]
    at, count, size = struct.unpack_from("<QIB", data, section)
    contexts = []
    for i in range(count):
        n, values, metrics, indices = struct.unpack_from("<QQH6xQ", data, at + i * size)
        slots = [struct.unpack_from("<HQ", data, indices + 10 * k) for k in range(metrics)] + [(None, n)]
        contexts.append([(slots[k][0], [struct.unpack_from("<Id", data, values + 12 * j)
                                        for j in range(slots[k][1], slots[k + 1][1])]) for k in range(metrics)])
    return profiles, contexts


def read_xml_values(directory):
    data = load(directory, "profile.db")
    check(data[:18] == b"HPCPROF-profdb__\1\0" and data.endswith(b"tfBDFORP"), "profile.db")
    count, at = struct.unpack_from(">I10xQ", data, 0x12)
    profiles = []
    for i in range(count):
        n, contexts, values = struct.unpack_from(">QIQ", data, at + 52 * i + 0x20)
        indices = values + 10 * n
        check(struct.unpack_from(">IQ", data, indices + 12 * contexts) == (0x656E6421, n), "end of profile %d" % i)
        slots = [struct.unpack_from(">IQ", data, indices + 12 * k) for k in range(contexts)] + [(None, n)]
        profiles.append([(slots[k][0], [struct.unpack_from(">dH", data, values + 10 * j)[::-1]
                                        for j in range(slots[k][1], slots[k + 1][1])]) for k in range(contexts)])
    data = load(directory, "cct.db")
    check(data[:18] == b"HPCPROF-cctdb___\1\0" and data.endswith(b"rtfBDTCC"), "cct.db")
    count, at = struct.unpack_from(">I10xQ", data, 0x12)
    contexts = []
    for i in range(count):
        number, n, metrics, values = struct.unpack_from(">IQHQ", data, at + 22 * i)
        check(number == i, "number of context %d" % i)
        if n == 0:
            contexts.append([])
            continue
        indices = values + 12 * n
        check(struct.unpack_from(">HQ", data, indices + 10 * metrics) == (0x6564, n), "end of context %d" % i)
        slots = [struct.unpack_from(">HQ", data, indices + 10 * k) for k in range(metrics)] + [(None, n)]
        contexts.append([(slots[k][0], [struct.unpack_from(">dI", data, values + 12 * j)[::-1]
                                        for j in range(slots[k][1], slots[k + 1][1])]) for k in range(metrics)])
    return profiles, contexts


def main(directory):
    is_meta = os.path.exists(os.path.join(directory, "meta.db"))
    description = Meta(directory) if is_meta else Xml(directory)
    profiles, contexts = read_meta_values(directory) if is_meta else read_xml_values(directory)
    check(len(contexts) == max(description.parents, default=0) + 1, "number of contexts in cct.db")
    by_profile = {}
    for index, profile in enumerate(profiles[1:], 1):
        ids = [context for context, _ in profile]
        check(ids == sorted(set(ids)), "order of contexts in profile %d" % index)
        for context, values in profile:
            check([m for m, _ in values] == sorted({m for m, _ in values}), "order of metrics in profile %d" % index)
            for metric, value in values:
                check(value != 0, "a zero is stored")
                by_profile[metric, context, index] = value
    by_context = {}
    for context, metrics in enumerate(contexts):
        check([m for m, _ in metrics] == sorted({m for m, _ in metrics}), "order of metrics in context %d" % context)
        for metric, values in metrics:
            check([p for p, _ in values] == sorted({p for p, _ in values}), "order of profiles in context %d" % context)
            for index, value in values:
                by_context[metric, context, index] = value
    check(by_profile == by_context, "profile.db and cct.db differ")

    # Statistics of the summary profile, from first principles.
    cells = collections.defaultdict(list)
    for (metric, context, _), value in sorted(by_profile.items()):
        cells[description.values[metric], context].append(value)
    stored = {}
    for context, values in profiles[0]:
        for number, value in values:
            stored[description.statistics[number], context] = value
    expected = {}
    for ((metric, scope), context), values in cells.items():
        for formula, combine, value in (("1", 0, len(values)), ("$$", 0, sum(values)), ("($$^2)", 0, sum(v * v for v in values)),
                                        ("$$", 1, min(values)), ("$$", 2, max(values))):
            if value != 0:
                expected[(metric, scope, formula, combine), context] = value
    check(stored.keys() == expected.keys(), "cells of the summary profile")
    for key, value in expected.items():
        check(abs(stored[key] - value) <= 1e-9 * abs(value), "statistic %s: %r, not %r" % (key, stored[key], value))

    for (metric, context, index), value in sorted(by_profile.items()):
        check(context == 0 or context in description.parents, "values of an unknown context %d" % context)
        name, scope = description.values[metric]
        print("\t".join([name, scope, str(context), str(index), value.hex()]))
    for context, parent in sorted(description.parents.items()):
        print("\t".join(["parent", str(context), str(parent)]))


main(sys.argv[1])
