#!/usr/bin/env python3
"""Writes the parts of include/fathom/undumpi that list all MPI calls, from the one table of calls.

usage: undumpi_headers.py [--check]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/formats/dumpi/function_table.hpp"
FOLDER = ROOT / "include/fathom/undumpi/dumpi"
NOTE = "/* Written by scripts/undumpi_headers.py from the table of calls. */\n"
PARAMETERS = ("uint16_t thread, const dumpi_time *cpu, const dumpi_time *wall, const dumpi_perfinfo *perf, "
              "void *userarg")
TYPES = {"i32": "int", "i64": "int64_t", "winassert": "dumpi_win_assert", "iorequest": "dumpio_request"}


def rows():
    found = re.findall(r'FunctionRow\{(\d+), "(\w+)", "([^"]*)", "([^"]*)", "[^"]*"\}', TABLE.read_text())
    return [(int(number), *rest) for number, *rest in found if int(number) < 290]


def lower(name):
    return name.lower().replace("mpio_", "dumpio_", 1) if name.startswith("MPIO_") else name.lower().replace("mpi_", "dumpi_", 1)


def member(name):
    return "on_" + ("io" + name[5:].lower() if name.startswith("MPIO_") else name[4:].lower())


def fields(arguments, order):
    types = dict(word.split(":") for word in arguments.split())
    out = []
    for name in order.split() or types:
        kind, suffix = re.match(r"(\w+)(.*)", types[name].split("?")[0]).groups()
        base, _, part = name.partition(".")
        if part == "in":
            star = "*" if suffix else ""
            out.append(f"struct {{ int {star}in, {star}out; }} {base};")
        elif part == "out":
            continue
        elif kind in ("str", "strs", "strss"):
            stars = {"str": 2 if suffix.startswith("*") else 1, "strs": 2, "strss": 3}[kind]
            out.append(f"char {'*' * stars}{base};")
        elif kind == "status":
            out.append(f"dumpi_status *{base};")
        elif suffix.endswith("[3]"):
            out.append(f"int **{base};")
        else:
            out.append(f"{TYPES.get(kind, 'dumpi_' + kind)} {'*' if suffix else ''}{base};")
    return out or ["int unused;"]


def guarded(name, includes, body):
    guard = f"FATHOM_UNDUMPI_{name}_H"
    include = "".join(f"#include <{path}>\n" for path in includes)
    return (f"{NOTE}#ifndef {guard}\n#define {guard}\n\n{include}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
            f"#pragma GCC visibility push(default)\n\n{body}\n#pragma GCC visibility pop\n"
            f"#ifdef __cplusplus\n}}\n#endif\n#endif\n")


def main():
    calls = rows()
    labels = "typedef enum dumpi_function {\n"
    labels += "".join(f"  {'DUMPIO_' + name[5:] if name.startswith('MPIO_') else 'DUMPI_' + name[4:]} = {number},\n"
                      for number, name, *_ in calls)
    labels += ("  DUMPI_ALL_FUNCTIONS = 290,\n  DUMPI_Function_enter = 291,\n  DUMPI_Function_exit = 292,\n"
               "  DUMPI_END_OF_STREAM = 293\n} dumpi_function;\n\n/* \"MPI_Send\"; an empty text for what is none. */\n"
               "const char *dumpi_function_label(dumpi_function function);\n"
               "/* All of them by number, the end of the stream as the last one. */\n"
               "const char *const *dumpi_function_labels(void);\n#define dumpi_function_names (dumpi_function_labels())\n")
    structs = "typedef struct dumpi_func_call {\n  uint64_t fn;\n} dumpi_func_call;\n\n"
    typedefs, members = "", ""
    for _, name, arguments, order in calls:
        if name == "MPI_Pcontrol":
            continue
        own = lower(name)
        structs += f"typedef struct {own} {{\n" + "".join(f"  {f}\n" for f in fields(arguments, order)) + f"}} {own};\n\n"
        typedefs += f"typedef int (*{own}_call)(const {own} *prm, {PARAMETERS});\n"
        members += f"  {own}_call {member(name)};\n"
    for pseudo in ("enter", "exit"):
        typedefs += f"typedef int (*dumpi_function_{pseudo}_call)(const dumpi_func_call *prm, {PARAMETERS});\n"
        members += f"  dumpi_function_{pseudo}_call on_function_{pseudo};\n"
    typedefs += f"typedef int (*dumpi_generic_call)(const void *prm, {PARAMETERS});\n"
    callbacks = (typedefs + "\n/* One for every call; what is NULL is passed over. */\ntypedef struct libundumpi_callbacks {\n" +
                 members + "} libundumpi_callbacks;\n\nvoid libundumpi_clear_callbacks(libundumpi_callbacks *callbacks);\n"
                 "/* The same for all of them. */\n"
                 "void libundumpi_set_callbacks(libundumpi_callbacks *callbacks, dumpi_generic_call handler);\n")
    files = {
        "common/funclabels.h": guarded("FUNCLABELS", [], labels),
        "common/argtypes.h": guarded("ARGTYPES", ["dumpi/common/types.h"], structs),
        "libundumpi/callbacks.h": guarded("CALLBACKS", ["dumpi/common/argtypes.h"], callbacks),
    }
    for path, text in files.items():
        if "--check" in sys.argv:
            if (FOLDER / path).read_text() != text:
                sys.exit(f"{path} is not what {pathlib.Path(__file__).name} writes")
        else:
            (FOLDER / path).write_text(text)


if __name__ == "__main__":
    main()
