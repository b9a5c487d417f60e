# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sources of compile.py: many operations of a kind in one program, each with different axes and shardings, the same
in every run."""

import itertools
import re

AXES = "BCDEFGHIJKLM"


def stride(n):
    """A step that visits 0 … n−1 once each, far apart."""
    step = max(1, int(n * 0.618))
    while any(step % p == 0 and n % p == 0 for p in range(2, step + 1)):
        step += 1
    return step


def spread(items, count):
    """`count` of the items, in an order that mixes them, the same in every run."""
    items = list(items)
    step = stride(len(items))
    return [items[i * step % len(items)] for i in range(count)]


def in_turn(items):
    """All items, mixed, again and again."""
    return itertools.cycle(spread(items, len(items)))


def shardings(axes, mesh, partials=False):
    """Every sharding of a tensor with these axes: per mesh axis one of the axes or none (or partial), both orders on
    one axis."""
    for where in itertools.product([None, *axes] + (["partial"] if partials else []), repeat=len(mesh)):
        for order in itertools.permutations(range(len(mesh))):
            dims = [a + "".join("/" + mesh[m] for m in order if where[m] == a) for a in axes]
            partial = [mesh[m] for m in range(len(mesh)) if where[m] == "partial"]
            yield tuple(dims + ([f"os::partial({', '.join(partial)})"] if partial else []))


def distinct(items):
    return list(dict.fromkeys(items))


def renamed(dims, letters, names):
    """The dimensions of a tensor with `names` instead of `letters`."""
    names = str.maketrans(dict(zip(letters, names)))
    return tuple(d if d.startswith("os::") else d[0].translate(names) + d[1:] for d in dims)


def einsums(mesh, count, batch=False, partials=False):
    """C[i, k] = A[i, j] B[j, k] (or with a batch axis b in all three), every one with other axes and other
    shardings."""
    axes = spread(itertools.permutations(AXES, 4), count)
    kinds = [distinct(shardings(t, mesh, partials and t != "ik"))
             for t in (("bij", "bjk", "bik") if batch else ("ij", "jk", "ik"))]
    for names, (left, right, out) in zip(axes, spread(itertools.product(*kinds), count)):
        yield tuple(renamed(t, "bijk", names) for t in (out, left, right))


def reshards(mesh, count):
    """A[i, j, k] from one sharding to another."""
    axes = spread(itertools.permutations(AXES, 3), count)
    kinds = distinct(shardings("ijk", mesh, True))
    pairs = [(to, source) for to, source in itertools.product(kinds, kinds) if to != source]
    for names, (to, source) in zip(axes, spread(pairs, count)):
        yield tuple(renamed(t, "ijk", names) for t in (to, source))


def maps(mesh, count):
    """C[i, j] = A[i, j] + B[j], divided alike where they meet."""
    axes = spread(itertools.permutations(AXES, 2), count)
    for names, kind in zip(axes, spread(distinct(shardings("ij", mesh)), count)):
        left = renamed(kind, "ij", names)
        yield left, left, left[1:]


def blocks_of_rows(mesh, count):
    """A[b, i, j]; its axis j is the one along which a softmax or a norm is."""
    axes = spread(itertools.permutations(AXES, 3), count)
    for names, kind in zip(axes, in_turn(distinct(shardings("bij", mesh)))):
        yield (renamed(kind, "bij", names),)


def attentions(mesh, count):
    """q[b, s, h, d], k[b, t, h, d], v[b, t, h, d]; batch and heads divided alike, queries perhaps over their
    positions."""
    axes = spread(itertools.permutations(AXES, 5), count)
    for names, kind in zip(axes, in_turn(distinct(shardings("bsh", mesh)))):
        b, s, h = (names["bsh".index(d[0])] + d[1:] for d in kind)
        t, d = names[3:]
        yield (b, s, h, d), (b, t, h, d), (b, t, h, d)


def joined(dims):
    return ", ".join(dims)


def einsum_call(number, operation):
    out, *operands = operation
    return function(number, operands, f"os::einsum<{joined(out)}>({', '.join('ab'[: len(operands)])})")


def reshard_call(number, operation):
    to, source = operation
    return function(number, [source], f"os::reshard<{joined(to)}>(a)")


def map_call(number, operation):
    return function(number, operation[1:], "os::map(plus(), a, b)")


def call_along_rows(name, with_gain=False):
    def write(number, operation):
        (rows,) = operation
        gain = [rows[-1:]] if with_gain else []
        return function(number, [rows, *gain], f"os::{name}<{rows[-1]}>({', '.join('ab'[: 1 + len(gain)])})")

    return write


def attention_call(number, operation):
    queries, keys, _ = operation
    return function(number, operation, f"os::attention<{queries[1][0]}, {keys[1]}, {queries[3]}>(a, b, c, os::causal)")


def of_variables(write):
    """The same operation on os::variable: its node and its backward."""
    return lambda number, operation: re.sub(r"os::tensor<([^>]*)> const&", r"os::variable<os::tensor<\1>> const&",
                                            write(number, operation))


def tensor_use(number, operation):
    return function(number, operation[1:2], "a.local()")


def function(number, operands, expression):
    parameters = ", ".join(f"os::tensor<float, {joined(o)}> const& {name}" for o, name in zip(operands, "abc"))
    return f"void operation{number}({parameters}) {{ [[maybe_unused]] auto r = {expression}; }}\n"


def plan_only(number, operation):
    out, *operands = operation
    given = ", ".join(f"os::sharding_of<{joined(o)}>" for o in operands)
    return f"static_assert(os::plan_of<os::dims<{joined(out)}>, {given}>.feasible);\n"


# name: operations, how they are written, header
CASES = {
    "einsum, one mesh axis": (lambda n: einsums("X", n), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes": (lambda n: einsums("XY", n), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes, batch": (lambda n: einsums("XY", n, batch=True), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes, partial": (lambda n: einsums("XY", n, partials=True), einsum_call, "ostraka.hpp"),
    "einsum plan, one mesh axis": (lambda n: einsums("X", n), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes": (lambda n: einsums("XY", n), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes, batch": (lambda n: einsums("XY", n, batch=True), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes, partial": (lambda n: einsums("XY", n, partials=True), plan_only, "plan.hpp"),
    "einsum plan, three mesh axes": (lambda n: einsums("XYZ", n), plan_only, "plan.hpp"),
    "reshard, one mesh axis": (lambda n: reshards("X", n), reshard_call, "ostraka.hpp"),
    "reshard, two mesh axes": (lambda n: reshards("XY", n), reshard_call, "ostraka.hpp"),
    "map, two mesh axes": (lambda n: maps("XY", n), map_call, "ostraka.hpp"),
    "tensor type, two mesh axes": (lambda n: maps("XY", n), tensor_use, "ostraka.hpp"),
    "derivative of einsum, one mesh axis": (lambda n: einsums("X", n), of_variables(einsum_call), "gradient.hpp"),
    "derivative of einsum, two mesh axes": (lambda n: einsums("XY", n), of_variables(einsum_call), "gradient.hpp"),
    "derivative of reshard, two mesh axes": (lambda n: reshards("XY", n), of_variables(reshard_call), "gradient.hpp"),
    "derivative of map, two mesh axes": (lambda n: maps("XY", n), of_variables(map_call), "gradient.hpp"),
    "derivative of softmax, two mesh axes": (lambda n: blocks_of_rows("XY", n),
                                             of_variables(call_along_rows("softmax")), "gradient.hpp"),
    "derivative of rms_norm, two mesh axes": (lambda n: blocks_of_rows("XY", n),
                                              of_variables(call_along_rows("rms_norm", True)), "gradient.hpp"),
    "derivative of layer_norm, two mesh axes": (lambda n: blocks_of_rows("XY", n),
                                                of_variables(call_along_rows("layer_norm", True)), "gradient.hpp"),
    "derivative of attention, two mesh axes": (lambda n: attentions("XY", n), of_variables(attention_call),
                                               "gradient.hpp"),
}

PREAMBLE = """#include <ostraka/{header}>
namespace os = ostraka;
{axes}
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);
struct plus {{
  float operator()(float a, float b) const {{ return a + b; }}
  template <int> float derivative(float, float) const {{ return 1; }}
}};
template <int N> struct number {{}};
template <int N> int trivial(number<N>) {{ return N; }}
"""


def source_of(case, count, subject):
    operations, write, header = CASES[case]
    text = PREAMBLE.format(header=header, axes=" ".join(f"OSTRAKA_AXIS({a});" for a in AXES))
    made = list(operations(count + 1))
    assert len(set(made)) == count + 1, f"{case}: an operation twice"
    text += write(0, made[0])
    for n in range(1, count + 1):
        text += write(n, made[n]) if subject else f"int operation{n}() {{ return trivial(number<{n}>()); }}\n"
    return text
