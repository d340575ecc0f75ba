#!/usr/bin/env python3
"""Writes the wrappers of all MPI calls for one MPI library.

usage: generate.py TABLE PARAMETERS PREPROCESSED OUT_HEADER OUT_SOURCE FORTRAN

TABLE is src/formats/dumpi/function_table.hpp, PARAMETERS is parameters.txt, PREPROCESSED is mpi.h as the preprocessor of
that library leaves it: what it declares is what gets wrapped, so names that a library lacks or adds need no list here.
FORTRAN says which Fortran bindings call the library past the C wrappers: "all" (Open MPI), "f08" (MPICH) or "none".
"""
import re
import sys

# Written by hand in life.cpp: they begin and end the recording.
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol"}
# Not calls of the program: conversions, address arithmetic, the tools interface.
UNCOUNTED = re.compile(r"MPI_T_|MPI_\w+_(f2c|c2f|f082c|c2f08|f2f08|f082f)$|MPI_Aint_(add|diff)$|MPIX_|MPI_(DUP|NULL)_")
HANDLES = {"comm": "MPI_Comm", "datatype": "MPI_Datatype", "group": "MPI_Group", "file": "MPI_File", "info": "MPI_Info",
           "win": "MPI_Win", "errhandler": "MPI_Errhandler", "request": "MPI_Request", "iorequest": "MPI_Request",
           "op": "MPI_Op"}
ENUMS = {"comparison", "topology", "threadlevel", "locktype", "ordering", "distribution", "typeclass", "whence",
         "filemode", "winassert", "combiner"}
SIZES = {"i64": 8, "comm": 2, "datatype": 2, "group": 2, "file": 2, "info": 2, "win": 2, "errhandler": 2, "keyval": 2,
         "op": 1, **{name: 1 for name in ENUMS}}
# Arguments that no parameter holds: what is asked for, once the call has succeeded.
ASKED = {
    "oldcommrank": "rank_in({oldcomm})",
    "commsize": "members({comm})",
    "commrank": "rank_beside_root({comm}, {root})",
    ("MPI_Graph_create", "numedges"): "{nodes} > 0 ? {index}[{nodes} - 1] : 0",
    ("MPI_Graph_map", "numedges"): "{nodes} > 0 ? {index}[{nodes} - 1] : 0",
    ("MPI_Cart_get", "ndim"): "least(cartesian_dimensions({comm}), {maxdims})",
    ("MPI_Cart_coords", "ndim"): "least(cartesian_dimensions({comm}), {maxdims})",
    ("MPI_Cart_rank", "ndim"): "cartesian_dimensions({comm})",
    ("MPI_Cart_sub", "ndim"): "cartesian_dimensions({oldcomm})",
    ("MPI_Graph_get", "totnodes"): "least(graph_size({comm}).nodes, {maxindex})",
    ("MPI_Graph_get", "totedges"): "least(graph_size({comm}).edges, {maxedges})",
    ("MPI_Graph_neighbors", "nneigh"): "least(neighbours({comm}, {rank}), {maxneighbors})",
    ("MPI_Type_get_contents", "numintegers"): "least(envelope({datatype}).integers, {maxintegers})",
    ("MPI_Type_get_contents", "numaddresses"): "least(envelope({datatype}).addresses, {maxaddresses})",
    ("MPI_Type_get_contents", "numdatatypes"): "least(envelope({datatype}).datatypes, {maxdatatypes})",
    ("MPI_Comm_spawn_multiple", "totprocs"): "sum({count}, {maxprocs}, rank_in({oldcomm}) == {root})",
}
# Calls that end the object whose handle they are given.
FREES = re.compile(r"_free$|_free_keyval$|_disconnect$|_close$")
# Calls that count from 1 in Fortran and from 0 in C.
ONE_BASED = {"MPI_Waitany": "index", "MPI_Testany": "index", "MPI_Waitsome": "indices", "MPI_Testsome": "indices"}


class Function:
    def __init__(self, number, name, arguments, outputs):
        self.number, self.name = number, name
        self.arguments = [Argument(word) for word in arguments.split()]
        self.outputs = set(outputs.split())


class Argument:
    def __init__(self, word):
        self.name, rest = word.split(":")
        rest, _, self.condition = rest.partition("?")
        match = re.match(r"(\w+)(.*)$", rest)
        self.type, self.suffix = match.group(1), match.group(2)
        self.length = re.match(r"[\[*](\w*)", self.suffix).group(1) if self.suffix else None


class Parameter:
    """One parameter of a C prototype."""

    def __init__(self, text, index):
        match = re.match(r"(.*?)(\w*)\s*((?:\[\d*\])*)$", text)
        base, name, self.array = match.group(1).strip(), match.group(2), match.group(3)
        if not base.replace("const", "").strip():  # a type without a name
            base = f"{base} {name}".strip()
        self.type = base.replace("const", " ").replace("*", " ").strip()
        self.stars = base.count("*") + (1 if self.array else 0)
        self.name = f"a{index}"
        # The declaration again, with our name.
        self.declaration = f"{base} {self.name}{self.array}"
        self.is_text = self.type == "char" and self.stars >= 1
        self.is_handle = self.type in HANDLES.values()
        self.constant = "const" in base


def read_table(path):
    rows = re.findall(r'FunctionRow\{(\d+), "(\w+)", "([^"]*)", "[^"]*", "([^"]*)"\}', open(path).read())
    return [Function(int(n), name, arguments, outputs) for n, name, arguments, outputs in rows]


def read_parameters(path):
    found = {}
    for line in open(path):
        line = line.split("#")[0].strip()
        if line:
            names, functions = line.split(":")
            for function in functions.split():
                found[function] = names.replace("-", "").split()
    return found


def split_parameters(text):
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    parts.append(part.strip())
    return [] if parts in ([""], ["void"]) else parts


def read_prototypes(path):
    text = re.sub(r"^#.*$", "", open(path).read(), flags=re.M)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
    prototypes = {}
    for result, name, parameters in re.findall(r"\b(int|double|MPI_\w+)\s+P(MPI[XO]?_\w+)\s*\(([^;{}]*?)\)\s*;", text):
        prototypes.setdefault(name, (result, split_parameters(" ".join(parameters.split()))))
    objects = re.findall(r"\bextern\s+struct\s+\w+\s+(\w+)\s*;", text)
    return prototypes, objects


class Wrapper:
    """The text of one wrapper, for C or for Fortran."""

    def __init__(self, function, names, prototype, fortran):
        self.function, self.fortran = function, fortran
        self.result, words = prototype
        self.parameters = [Parameter(word, i) for i, word in enumerate(words)]
        self.by_name = {name: p for name, p in zip(names, self.parameters) if name != "_"}
        if len(names) != len(self.parameters):
            raise SystemExit(f"parameters.txt: {function.name} has {len(self.parameters)} parameters, not {len(names)}")
        for argument in function.arguments:
            base = argument.name.split(".")[0]
            if base not in self.by_name and base not in ASKED and (function.name, base) not in ASKED:
                raise SystemExit(f"parameters.txt: {function.name} has nothing for {argument.name}")

    # Values of parameters, whatever the language.
    def scalar(self, p):
        return f"*{p.name}" if p.stars or self.fortran else p.name

    def handle(self, p, index=None):
        at = f"{p.name}[{index}]" if index is not None else (f"*{p.name}" if p.stars or self.fortran else p.name)
        convert = "PMPI_Type_f2c" if p.type == "MPI_Datatype" else f"P{p.type}_f2c"
        return f"{convert}({at})" if self.fortran else at

    def text(self, p):
        return f"fortran_text({p.name}, length_{p.name})" if self.fortran else f"text({p.name})"

    def value_of(self, name):
        """A plain expression for a named argument, for use in other expressions."""
        p = self.by_name[name]
        return f"({self.handle(p)})" if p.is_handle and not p.array else p.name if p.array else f"({self.scalar(p)})"

    def asked(self, argument):
        template = ASKED.get((self.function.name, argument.name)) or ASKED.get(argument.name)
        return re.sub(r"\{(\w+)\}", lambda m: self.value_of(m.group(1)), template)

    def length_of(self, argument):
        """How many elements an array has; never below 0."""
        if argument.length in self.by_name:
            return f"atleast0({self.value_of(argument.length)})"
        return f"atleast0(the_{argument.length})"

    def releases(self):
        """Parameters whose object the call may end: pointers to handles that are not outputs."""
        found = []
        for argument in self.function.arguments:
            p = self.by_name.get(argument.name)
            if p is None or argument.name in self.function.outputs or p.constant:
                continue
            if argument.suffix and argument.type not in ("request", "iorequest"):
                continue
            if (p.is_handle or argument.type == "keyval") and p.stars:
                found.append((argument, p))
        return found

    def status_parameter(self):
        for argument in self.function.arguments:
            if argument.type == "status" and argument.name in self.function.outputs:
                p = self.by_name[argument.name]
                if not self.function.name.startswith("MPI_Status_set"):
                    return argument, p
        return None

    def call_arguments(self):
        return [p.name if p is not self.replaced else "wanted" for p in self.parameters]

    def body(self, real):
        f = self.function
        releases = self.releases()
        status = self.status_parameter()
        if f.name == "MPI_Request_get_status":  # its status is not among the outputs of the table
            status = next((a, self.by_name[a.name]) for a in f.arguments if a.type == "status")
        self.replaced = None
        out = []
        plain = ", ".join(p.name for p in self.parameters)
        if self.fortran:
            extra = ["ierr"] + [f"length_{p.name}" for p in self.parameters if p.is_text]
            plain = ", ".join(x for x in [plain, *extra] if x)
        returns = "" if self.fortran else "return "
        out.append(f"  Call call({f.number});")
        guard = "outermost" if releases else "recording"
        out.append(f"  if (!call.{guard}()) {{ {returns}{real}({plain}); {'return; ' if self.fortran else ''}}}")
        # Before the call.
        requests = [(a, p) for a, p in releases if a.type in ("request", "iorequest")]
        others = [(a, p) for a, p in releases if a.type not in ("request", "iorequest")]
        for a, p in requests:
            if a.suffix:
                out.append(f"  const int n = atleast0({self.value_of(a.length)});")
                out.append("  const bool known = requests_before(static_cast<std::size_t>(n));")
                out.append("  if (known) {")
                out.append("    Lock lock;")
                out.append("    g.requests.begin_list();")
                out.append("    for (int i = 0; i < n; ++i) {")
                out.append(f"      t.keys[i] = key({self.handle(p, 'i')});")
                out.append("      t.ids[i] = g.requests.waited_for(t.keys[i]);")
                out.append("    }")
                out.append("  }")
            else:
                out.append(f"  one_request_before(key({self.handle(p)}));")
        for a, p in others:
            table = "keyvals" if a.type == "keyval" else a.type + "s"
            value = f"*{p.name}" if a.type == "keyval" else self.handle(p)
            out.append(f"  [[maybe_unused]] const std::uint64_t key_before = key({value});")
            used = f"datatype_number({value}, false)" if a.type == "datatype" else f"g.{table}.used(key_before)"
            # Freed before the library does it: another thread may get the same handle again at once.
            freed = f" g.{table}.freed(key_before);" if FREES.search(f.name) else ""
            out.append(f"  std::int32_t id_before = 0; {{ Lock lock; id_before = {used};{freed} }}")
        for a in f.arguments:
            if a.name.endswith(".in"):
                p = self.by_name[a.name[:-3]]
                if a.suffix:
                    size = f"atleast0({self.value_of(a.length)})"
                    out.append(f"  int* const before = own_integers(static_cast<std::size_t>({size}));")
                    out.append(f"  for (int i = 0; before != nullptr && i < {size}; ++i) before[i] = {p.name}[i];")
                else:
                    out.append(f"  const auto before = *{p.name};")
        if status is not None:
            a, p = status
            size = f"atleast0({self.value_of('count')})" if a.suffix else "1"
            ignore = ("MPI_F_STATUSES_IGNORE" if a.suffix else "MPI_F_STATUS_IGNORE") if self.fortran else (
                "MPI_STATUSES_IGNORE" if a.suffix else "MPI_STATUS_IGNORE")
            own = "own_fortran_statuses" if self.fortran else "own_statuses"
            out.append(f"  auto* wanted = {p.name};")
            out.append(f"  if (wanted == {ignore} && call.recording() && g.settings.statuses != kDisable) {{")
            out.append(f"    wanted = {own}(static_cast<std::size_t>({size}));")
            out.append(f"    if (wanted == nullptr) wanted = {ignore};")
            out.append("  }")
            self.replaced = p
        arguments = ", ".join(self.call_arguments())
        if self.fortran:
            arguments = ", ".join(x for x in [arguments, *extra] if x)
        out.append("  call.begin();")
        if self.fortran:
            out += [f"  {real}({arguments});", "  call.end();", "  const int code = *ierr;"]
        elif self.result == "int":
            out += [f"  const int code = {real}({arguments});", "  call.end();"]
        else:
            out += [f"  const {self.result} result = {real}({arguments});", "  call.end();",
                    "  constexpr int code = MPI_SUCCESS;"]
        out.append("  if (call.keep(code)) {")
        out += ["    " + line for line in self.record(status)]
        out.append("  }")
        # After it.
        if requests:
            a, p = requests[0]
            if a.suffix:
                out.append("  if (known) {")
                out.append("    Lock lock;")
                out.append(f"    for (int i = 0; i < n; ++i) request_after(i, key({self.handle(p, 'i')}));")
                out.append("  }")
            else:
                out.append(f"  {{ Lock lock; request_after(0, key({self.handle(p)})); }}")
        if not self.fortran:
            out.append("  return code;" if self.result == "int" else "  return result;")
        return out

    def record(self, status):
        f = self.function
        out, sizes, puts = [], [], []
        fixed = 0
        needs = {a.length for a in f.arguments if a.length} | {a.name for a in f.arguments}
        for name in ["oldcommrank", "commrank", "commsize", "ndim", "numedges", "totedges", "totnodes", "nneigh",
                     "numdatatypes", "numaddresses", "numintegers", "totprocs"]:
            if name in needs and name not in self.by_name:
                argument = next(a for a in f.arguments if a.name == name)
                out.append(f"const int the_{name} = code == MPI_SUCCESS ? {self.asked(argument)} : 0;")
        statuses = None
        if status is not None:
            a, p = status
            ignore = ("MPI_F_STATUSES_IGNORE" if a.suffix else "MPI_F_STATUS_IGNORE") if self.fortran else (
                "MPI_STATUSES_IGNORE" if a.suffix else "MPI_STATUS_IGNORE")
            count = self.length_of(a) if a.suffix else "1"
            flag = self.by_name.get("flag")
            good = ["wanted != " + ignore, "(code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS)"]
            if flag is not None:
                good.append(f"{self.scalar(flag)} != 0")
            out.append(f"int given = {' && '.join(good)} ? {count} : 0;")
            if self.fortran:
                out.append("const MPI_Status* const statuses = converted(wanted, static_cast<std::size_t>(given));")
                out.append("if (statuses == nullptr) given = 0;")
                statuses = "statuses"
            else:
                statuses = "wanted"
            sizes.append("14 * static_cast<std::size_t>(given)")
        for a in f.arguments:
            base = a.name.split(".")[0]
            p = self.by_name.get(base)
            line = None
            made = base in f.outputs
            each = lambda call: f"for (int i = 0; i < count; ++i) {call}"  # noqa: E731
            if a.type == "status":
                fixed += 4
                if p is status[1] if status else False:
                    line = f"if ((g.mask & 3) != 0) out.status({statuses}, given, code == MPI_ERR_IN_STATUS);"
                else:
                    fixed += 14
                    ignore = "MPI_F_STATUS_IGNORE" if self.fortran else "MPI_STATUS_IGNORE"
                    value = f"converted({p.name}, 1)" if self.fortran else p.name
                    line = f"if ((g.mask & 3) != 0) out.status({value}, {p.name} != {ignore} ? 1 : 0, false);"
            elif a.type in ("strs", "strss"):
                fixed += 4
                if self.fortran:
                    line = "out.i32(0);"
                elif a.type == "strs" and not a.length:
                    sizes.append(f"bytes_of_list({p.name})")
                    line = f"out.strs({p.name});"
                elif a.type == "strs":
                    sizes.append(f"bytes_of_texts({self.value_of(a.length)}, {p.name})")
                    line = f"put_texts(out, {self.value_of(a.length)}, {p.name});"
                else:
                    sizes.append(f"bytes_of_lists({self.value_of(a.length)}, {p.name})")
                    line = f"put_lists(out, {self.value_of(a.length)}, {p.name});"
            elif a.type == "str":
                fixed += 4
                name = f"text_{base}"
                if made and a.length in self.by_name:
                    size = self.value_of(a.length)
                    value = f"code == MPI_SUCCESS ? Text{{{p.name}, static_cast<std::size_t>(atleast0({size}))}} : Text{{}}"
                    if self.fortran:
                        value = f"code == MPI_SUCCESS ? {self.text(p)} : Text{{}}"
                elif made:
                    flag = f" && {self.scalar(self.by_name['flag'])} != 0" if "flag" in self.by_name else ""
                    value = f"code == MPI_SUCCESS{flag} ? {self.text(p)} : Text{{}}"
                else:
                    value = self.text(p)
                out.append(f"const Text {name} = {value};")
                sizes.append(f"{name}.size")
                line = f"out.str({name});"
            elif a.suffix.endswith("[3]"):
                fixed += 4
                rows = self.length_of(a)
                sizes.append(f"16 * static_cast<std::size_t>({rows})")
                at = f"{p.name}[3 * i + k]" if self.fortran else f"{p.name}[i][k]"
                line = (f"out.i32({rows}); for (int i = 0; i < {rows}; ++i) {{ out.i32(3); "
                        f"for (int k = 0; k < 3; ++k) out.i32({at}); }}")
            elif a.suffix:
                fixed += 4
                size = SIZES.get(a.type, 4)
                length = self.length_of(a)
                pointer = p.name
                if a.name.endswith(".in"):
                    pointer = "before"
                if a.type in ("request", "iorequest"):
                    fallback = "known" if not made else None
                    if made:  # Startall: the requests stay what they are
                        line = (f"const int count = {length}; g.requests.begin_list(); out.i32(count); "
                                + each(f"out.i32(out.request({self.handle(p, 'i')}));"))
                    else:
                        line = (f"const int count = {fallback} ? n : 0; out.i32(count); " + each("out.i32(t.ids[i]);"))
                else:
                    present = []
                    if made and a.name != "indices":
                        present.append("code == MPI_SUCCESS")
                    if a.name == "errcodes":
                        present += [f"{p.name} != MPI_ERRCODES_IGNORE"] if not self.fortran else ["false"]
                    if a.name.endswith(".in"):
                        present.append("before != nullptr")
                    elif not self.fortran:
                        present.append(f"{p.name} != nullptr")
                    count = f"{' && '.join(present)} ? {length} : 0" if present else length
                    if a.type in HANDLES:
                        ask = "made_" if made else ""
                        value = f"out.i16(out.{ask}{a.type}({self.handle(p, 'i')}));"
                    elif a.type in ENUMS:
                        value = f"out.u8(native::{a.type}({pointer}[i]));"
                    elif self.fortran and ONE_BASED.get(f.name) == a.name:
                        value = f"out.i32({pointer}[i] - first_index());"
                    else:
                        value = f"out.i32({pointer}[i]);"
                    line = f"const int count = {count}; out.i32(count); {each(value)}"
                sizes.append(f"{size} * static_cast<std::size_t>({length})")
                line = "{ " + line + " }"
            else:
                fixed += SIZES.get(a.type, 4)
                if p is None:
                    line = f"out.i32(the_{base});"
                elif a.type in ("request", "iorequest"):
                    if made and f.name != "MPI_Start":
                        line = f"out.i32(code == MPI_SUCCESS ? out.made_request({self.handle(p)}) : 0);"
                    elif p.stars and f.name != "MPI_Start":
                        line = "out.i32(t.ids[0]);"
                    else:
                        line = f"g.requests.begin_list(); out.i32(out.request({self.handle(p)}));"
                elif a.type in HANDLES or a.type == "keyval":
                    value = self.handle(p) if a.type in HANDLES else self.scalar(p)
                    put = "u8(static_cast<std::uint8_t>" if a.type == "op" else "i16("
                    if (a, p) in self.releases():
                        inner = "id_before"
                    elif made and p.stars:
                        inner = f"code == MPI_SUCCESS ? out.made_{a.type}({value}) : 0"
                    else:
                        inner = f"out.{a.type}({value})"
                    if f.name == "MPI_Gatherv" and a.name == "recvtype":
                        inner = f"the_commrank == ({self.value_of('root')}) ? {inner} : 0"
                    line = f"out.{put}({inner}));" if a.type == "op" else f"out.{put}{inner});"
                elif a.type in ENUMS:
                    line = f"out.u8(native::{a.type}({self.scalar(p)}));"
                elif a.type in ("dest", "source", "tag", "i64"):
                    line = f"out.{a.type}({self.scalar(p)});"
                elif a.name.endswith(".in"):
                    line = "out.i32(before);"
                elif self.fortran and ONE_BASED.get(f.name) == a.name:
                    line = f"out.i32({self.scalar(p)} > 0 ? {self.scalar(p)} - first_index() : {self.scalar(p)});"
                else:
                    line = f"out.i32({self.scalar(p)});"
            if a.condition:
                left, right = a.condition.split("==")
                left = f"the_{left}"
                line = f"if ({left} == {self.value_of(right)}) {{ {line} }}"
            puts.append(line)
        bound = " + ".join([str(fixed)] + sizes)
        out.append(f"Record out(call, {bound});")
        out.append("if (out) {")
        out += ["  " + line for line in puts]
        out += ["  out.close();", "}"]
        return out


def c_wrapper(function, names, prototype):
    wrapper = Wrapper(function, names, prototype, fortran=False)
    parameters = ", ".join(p.declaration for p in wrapper.parameters) or "void"
    return [f"{prototype[0]} {function.name}({parameters}) {{", *wrapper.body("P" + function.name), "}", ""]


def fortran_type(p):
    if p.is_text:
        return "char*"
    if p.type in ("int", "MPI_Status") or p.is_handle:
        return "MPI_Fint*"
    if p.type in ("MPI_Aint", "MPI_Offset"):
        return p.type + "*"
    return "void*"


def fortran_signature(parameters):
    words = [f"{fortran_type(p)} {p.name}" for p in parameters] + ["MPI_Fint* ierr"]
    words += [f"std::size_t length_{p.name}" for p in parameters if p.is_text]
    return ", ".join(words)


def fortran_names(name):
    """Our definition and its other spellings."""
    lower = name.lower()
    return lower + "_", [lower, lower + "__", name.upper()]


def real_f08(own, bindings):
    """The library's own name of a call of mpi_f08."""
    return f"p{own[:-1]}_f08_" if bindings == "all" else f"pmpir{own[3:-1]}_f08_"


def fortran_wrapper(function, names, prototype, bindings):
    wrapper = Wrapper(function, names, prototype, fortran=True)
    signature = fortran_signature(wrapper.parameters)
    own, others = fortran_names(function.name)
    real = real_f08(own, bindings)
    out = [f"void {real}({signature}) __attribute__((weak));"]
    if bindings == "all":
        out += [f"void p{own}({signature}) __attribute__((weak));", f"void {own}({signature}) {{",
                *wrapper.body("p" + own), "}"]
        for other in others:
            out.append(f'void {other}({signature}) __attribute__((alias("{own}")));')
    # In mpi_f08 the error code may be left out.
    body = wrapper.body(real)
    if bindings == "f08":  # with a status to ignore of its own
        body = [re.sub(r"\bMPI_F_(STATUS(ES)?_IGNORE)", r"reinterpret_cast<MPI_Fint*>(MPI_F08_\1)", line) for line in body]
    out += [f"void {own[:-1]}_f08_({signature}) {{", "  MPI_Fint code_if_none = 0;",
            "  if (ierr == nullptr) ierr = &code_if_none;", *body, "}", ""]
    return out


def first_index(bindings):
    """What Fortran calls the first of a list of requests: 1, but mpi_f08 of MPICH 4.0 hands out the 0 of C."""
    if bindings == "all":
        return ["static int first_index() { return 1; }"]
    real = real_f08("mpi_waitany_", bindings)
    return [f"void {real}(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((weak));",
            "// Asked of the library itself: of two requests, the second one is complete.",
            "static int first_index() {",
            "  static const int first = [] {",
            "    MPI_Request request = MPI_REQUEST_NULL;",
            "    PMPI_Isend(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);",
            "    MPI_Fint count = 2, list[2] = {PMPI_Request_c2f(MPI_REQUEST_NULL), PMPI_Request_c2f(request)};",
            "    MPI_Fint index = 0, error = 0;",
            "    MPI_Status status;",
            f"    {real}(&count, list, &index, reinterpret_cast<MPI_Fint*>(&status), &error);",
            "    return index == 1 ? 0 : 1;",
            "  }();",
            "  return first;",
            "}"]


def fortran_clock(name, bindings):
    own, others = fortran_names(name)
    out = [f"double {own[:-1]}_f08_(void) {{ return {name}(); }}"]
    if bindings == "all":
        out.append(f"double {own}(void) {{ return {name}(); }}")
        out += [f'double {other}(void) __attribute__((alias("{own}")));' for other in others]
    return out


def main():
    table, parameters, preprocessed, header, source, fortran = sys.argv[1:]
    functions = read_table(table)
    names = read_parameters(parameters)
    prototypes, objects = read_prototypes(preprocessed)
    if "MPI_Send" not in prototypes:
        raise SystemExit(f"{preprocessed}: no prototype of PMPI_Send found")

    recorded = [f for f in functions if f.name in prototypes and f.name not in BY_HAND]
    known = {f.name for f in functions}
    unrecorded = sorted(name for name in prototypes if name not in known and not UNCOUNTED.match(name))
    # Those without a fixed list of parameters cannot be passed on.
    unrecorded = [name for name in unrecorded if "..." not in " ".join(prototypes[name][1])]

    with open(header, "w") as out:
        out.write("// Generated. mpi.h with every symbol weak: the recorder may be loaded into programs without MPI.\n")
        out.write("#pragma once\n#define OMPI_SKIP_MPICXX 1\n#define MPICH_SKIP_MPICXX 1\n#include <mpi.h>\n")
        out.write('extern "C" {\n')
        for name in sorted(prototypes):
            out.write(f"#pragma weak P{name}\n")
        for name in objects:
            out.write(f"#pragma weak {name}\n")
        for name in ("MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE", "MPI_F08_STATUSES_IGNORE"):
            out.write(f"#pragma weak {name}\n")
        out.write("}\n")

    lines = ["// Generated by capture/dumpi/generate.py.", '#include "dumpi/recorder.hpp"', '#include "dumpi/helpers.hpp"', "",
             "using namespace fathom::capture;", "", "namespace fathom::capture {",
             "const char* const kFunctionNames[kFunctions] = {"]
    lines += [f'    "{f.name}",' for f in functions if f.number < 290]
    lines += ["};", "const char* const kUnrecordedNames[] = {"]
    lines += [f'    "{name}",' for name in unrecorded] + ["    nullptr};"]
    lines += [f"const std::size_t kUnrecorded = {len(unrecorded)};",
              f"std::uint64_t unrecorded_counts[{len(unrecorded)} + 1];", "}  // namespace fathom::capture", ""]
    lines += ["#pragma GCC visibility push(default)", 'extern "C" {']
    for function in recorded:
        lines += c_wrapper(function, names[function.name], prototypes[function.name])
    for i, name in enumerate(unrecorded):
        result, words = prototypes[name]
        ps = [Parameter(word, k) for k, word in enumerate(words)]
        lines.append(f"{result} {name}({', '.join(p.declaration for p in ps) or 'void'}) {{ Unrecorded call({i}); "
                     f"return P{name}({', '.join(p.name for p in ps)}); }}")
    if fortran != "none":
        lines += first_index(fortran)
        for function in recorded:
            result, _ = prototypes[function.name]
            if result == "double":
                lines += fortran_clock(function.name, fortran)
            else:
                lines += fortran_wrapper(function, names[function.name], prototypes[function.name], fortran)
        for i, name in enumerate(unrecorded):
            result, words = prototypes[name]
            if result != "int":
                continue
            ps = [Parameter(word, k) for k, word in enumerate(words)]
            own, others = fortran_names(name)
            signature = fortran_signature(ps)
            values = ", ".join([p.name for p in ps] + ["ierr"] + [f"length_{p.name}" for p in ps if p.is_text])
            real = real_f08(own, fortran)
            lines.append(f"void {real}({signature}) __attribute__((weak));")
            lines.append(f"void {own[:-1]}_f08_({signature}) {{ Unrecorded call({i}); {real}({values}); }}")
            if fortran == "all":
                lines.append(f"void p{own}({signature}) __attribute__((weak));")
                lines.append(f"void {own}({signature}) {{ Unrecorded call({i}); p{own}({values}); }}")
                lines += [f'void {other}({signature}) __attribute__((alias("{own}")));' for other in others]
    lines += ["}", "#pragma GCC visibility pop", "", "namespace fathom::capture {", "const Wrapped kWrapped[] = {"]
    lines += [f'    {{"{f.name}", reinterpret_cast<void*>({f.name})}},' for f in recorded]
    lines += ["    {nullptr, nullptr}};", "}  // namespace fathom::capture"]
    with open(source, "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
