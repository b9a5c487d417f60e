# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
Prints tensors in gdb as os::describe does, with the elements of this process' block:

    (gdb) source <prefix>/share/ostraka/gdb/ostraka.py        once, or as a line of ~/.gdbinit
    (gdb) print T
    $1 = float T[I_X, J] of 24 × 3 on X=2 · Y=1; device 0 holds [0, 12) × [0, 3) = {0, 1, 2, 3, 4...}
"""

import re

import gdb

ELEMENTS = {
    "float": "float",
    "double": "double",
    "bool": "bool",
    "signed char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "long long": "int64",
    "Kokkos::complex<float>": "complex<float>",
    "Kokkos::complex<double>": "complex<double>",
    "ostraka::narrow_float<5, 10>": "float16",
    "ostraka::narrow_float<8, 7>": "bfloat16",
}
PARTIALS = {"partial_sum": "U", "partial_max": "max", "partial_min": "min", "partial_prod": "prod",
            "partial_and": "and", "partial_or": "or"}


def arguments(name):
    """'a<b<c, d>, e>' -> ('a', ['b<c, d>', 'e'])"""
    if "<" not in name:
        return name, []
    head, rest = name[: name.index("<")], name[name.index("<") + 1 : name.rindex(">")]
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(rest):
        depth += (c in "<({") - (c in ">)}")
        if c == "," and depth == 0:
            parts.append(rest[begin:i].strip())
            begin = i + 1
    parts.append(rest[begin:].strip())
    return head, [p for p in parts if p]


def bare(type_name):
    """'mine::I_axis' -> 'I': the last name, without what OSTRAKA_AXIS and OSTRAKA_MESH_AXIS put behind it."""
    return re.sub("_(axis|mesh)$", "", type_name.split("::")[-1])


def dimensions(sharding):
    """Of 'sharding<over<I_axis, X_mesh>, J_axis, partial_sum<Y_mesh>>' the axes with their mesh axes, and what is
    partial: [('I', ['X']), ('J', [])], ' {U_Y}'."""
    axes, partial = [], ""
    for entry in arguments(sharding)[1]:
        head, inner = arguments(entry)
        kind = head.split("::")[-1]
        if kind == "over":
            axes.append((bare(inner[0]), [bare(m) for m in inner[1:]]))
        elif kind in PARTIALS:
            partial = " {%s_%s}" % (PARTIALS[kind], mesh_names([bare(m) for m in inner]))
        else:
            axes.append((bare(entry), []))
    return axes, partial


def mesh_names(names):
    letters = all(len(n) == 1 for n in names)
    return "".join(names) if letters else names[0] if len(names) == 1 else "{" + ",".join(names) + "}"


def notation(axes, partial):
    return "[" + ", ".join(a + ("_" + mesh_names(over) if over else "") for a, over in axes) + "]" + partial


def text(value):
    """A std::string or a std::string_view."""
    try:
        return value["_M_dataplus"]["_M_p"].string(length=int(value["_M_string_length"]))  # libstdc++
    except gdb.error:
        printer = gdb.default_visualizer(value)
        return printer.to_string().strip('"') if printer else "?"


def items(array):
    """Of an ostraka::dynamic_array."""
    return [array["items_"][i] for i in range(int(array["count_"]))]


def strings(array):
    return [text(item) for item in items(array)]


def numbers(array):
    return [int(item) for item in items(array)]


def pointer(shared):
    """What a std::shared_ptr points to, or None."""
    for member in ("_M_ptr", "__ptr_"):
        try:
            return shared[member].dereference() if int(shared[member]) else None
        except gdb.error:
            continue
    return None


def data_of(view):
    """Where the elements of a Kokkos::View lie, or None where its members are called otherwise."""
    for path in (("m_map", "m_impl_handle"), ("m_ptr",), ("m_ptr", "m_handle")):
        try:
            value = view
            for member in path:
                value = value[member]
            if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
                return value
        except gdb.error:
            continue
    return None


class TensorPrinter:
    def __init__(self, value):
        self.value = value
        element, sharding = arguments(str(value.type.strip_typedefs().unqualified().name))[1][:2]
        self.axes, partial = dimensions(sharding)
        self.title = ELEMENTS.get(element, element) + self.label() + notation(self.axes, partial)
        mesh = pointer(value["mesh_"])
        self.shape = self.ranges = None
        if mesh is not None:
            self.read(mesh)

    def label(self):
        held = self.value["label_"]["held_"]  # an engine::shared_value
        return " " + text(held["value"]) if int(held) else ""

    def read(self, mesh):
        names, sizes, here = strings(mesh["names_"]), numbers(mesh["sizes_"]), numbers(mesh["coordinates_"])
        self.shape = " · ".join("%s=%d" % pair for pair in zip(names, sizes))
        self.extents = [int(self.value["extents_"]["_M_elems"][i]) for i in range(len(self.axes))] if self.axes else []
        self.device = 0
        for size, at in zip(sizes, here):
            self.device = self.device * size + at
        self.absent = bool(mesh["absent_"])
        if self.absent:
            return
        self.ranges = []
        for (_, over), n in zip(self.axes, self.extents):  # device d of p holds [floor(d n / p), floor((d + 1) n / p))
            d, p = 0, 1
            for m in over:
                a = names.index(m)
                d, p = d * sizes[a] + here[a], p * sizes[a]
            self.ranges.append((d * n // p, (d + 1) * n // p))

    def to_string(self):
        if self.shape is None:
            return self.title + ", an empty handle"
        extents = " of " + " × ".join(str(n) for n in self.extents) if self.axes else ""
        said = self.title + extents + " on " + self.shape
        if self.absent:
            return said + "; this process is none of its devices"
        block = " × ".join("[%d, %d)" % r for r in self.ranges) or "one element"
        return said + "; device %d holds " % self.device + block

    def children(self):
        if self.ranges is None:
            return
        data, count = data_of(self.value["local_"]), 1
        for begin, end in self.ranges:
            count *= end - begin
        for i in range(count if data is not None else 0):
            yield str(i), data[i]

    def display_hint(self):
        return "array"


class MeshPrinter:
    """An os::mesh: `X=2 · Y=4; device 3`."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        mesh = pointer(self.value["devices_"])
        if mesh is None:
            return "an empty handle"
        sizes, here, device = numbers(mesh["sizes_"]), numbers(mesh["coordinates_"]), 0
        for size, at in zip(sizes, here):
            device = device * size + at
        shape = " · ".join("%s=%d" % pair for pair in zip(strings(mesh["names_"]), sizes))
        return shape + ("; this process is none of its devices" if bool(mesh["absent_"]) else "; device %d" % device)


class NarrowPrinter:
    """os::float16 and os::bfloat16: the number."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        exponent, fraction = (int(self.value.type.strip_typedefs().template_argument(i)) for i in (0, 1))
        bits = int(self.value["bits_"])
        sign = -1.0 if bits >> 15 else 1.0
        power, rest = bits >> fraction & (1 << exponent) - 1, bits & (1 << fraction) - 1
        bias = (1 << exponent - 1) - 1
        if power == (1 << exponent) - 1:
            return "nan" if rest else str(sign * float("inf"))
        if power == 0:
            return repr(sign * rest * 2.0 ** (1 - bias - fraction))
        return repr(sign * (1 + rest / (1 << fraction)) * 2.0 ** (power - bias))


PRINTERS = {"ostraka::basic_tensor": TensorPrinter, "ostraka::mesh": MeshPrinter,
            "ostraka::narrow_float": NarrowPrinter}


def find_printer(value):
    name = value.type.strip_typedefs().unqualified().name
    printer = PRINTERS.get(name.split("<")[0]) if name else None
    return printer(value) if printer else None


find_printer.__name__ = "ostraka"  # what `info pretty-printer` shows
gdb.pretty_printers.insert(0, find_printer)
