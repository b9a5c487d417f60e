# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make.py > gradients.hpp

For each program of the table, Σ weight · program(operands) and its gradient with respect to every operand, by JAX in
double precision. The programs stand by the same names in ../jax.cpp. Numbers of operands and weights are a function of
a seed and of the element's place.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

jax.config.update("jax_enable_x64", True)

EXTENTS = {"B": 2, "I": 3, "J": 4, "K": 2, "L": 3}
WEIGHTS = 0  # their seed; operand k has the seed k + 1


def numbers(seed, count):
    """splitmix64 of seed · 2³² + place: from −1 up to 1."""
    with np.errstate(over="ignore"):
        z = (np.uint64(seed << 32) + np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


def norm_of(x, axis, epsilon, centred):
    if centred:
        x = x - jnp.mean(x, axis, keepdims=True)
    return x / jnp.sqrt(jnp.mean(x * x, axis, keepdims=True) + epsilon)


def attend(q, k, v, seen=None):  # [B, I, L], [B, K, L], [B, K, L]
    scores = jnp.einsum("bil,bkl->bik", q, k) / np.sqrt(q.shape[-1])
    if seen is not None:
        scores = jnp.where(seen, scores, -np.inf)
    return jnp.einsum("bik,bkl->bil", nn.softmax(scores), v)


def turned(x):  # [J, L, K]: position, frequency, pair
    angle = np.arange(4)[:, None] * 10000.0 ** (-np.arange(3) / 3)
    c, s = np.cos(angle), np.sin(angle)
    return jnp.stack([x[..., 0] * c - x[..., 1] * s, x[..., 0] * s + x[..., 1] * c], axis=-1)


index = np.array([2, 0, 2, 1])  # along J, of I

PROGRAMS = {
    # products
    "product": (["IJ", "JK"], lambda a, b: a @ b),
    "outer": (["I", "J"], lambda a, b: a[:, None] * b),
    "batched": (["BIJ", "BJK"], lambda a, b: a @ b),
    "chain": (["IJ", "JK", "KL"], lambda a, b, c: a @ b @ c),
    "summed away": (["IJ", "JK"], lambda a, b: jnp.einsum("ij,jk->i", a, b)),
    "hadamard": (["IJ", "IJ"], lambda a, b: jnp.einsum("ij,ij->j", a, b)),
    "sum": (["IJ"], lambda a: a.sum(0)),
    "mean": (["IJK"], lambda a: a.mean((0, 2))),
    # elements
    "arithmetic": (["IJ", "J"], lambda a, b: (a * b - 2 * a) / (b * b + 1) + 3 / (2 - a)),
    "exp": (["IJ"], jnp.exp),
    "expm1": (["IJ"], jnp.expm1),
    "log": (["IJ"], lambda a: jnp.log(a + 1.5)),
    "log1p": (["IJ"], lambda a: jnp.log1p(0.5 * a)),
    "tanh": (["IJ"], lambda a: jnp.tanh(2 * a)),
    "sin": (["IJ"], lambda a: jnp.sin(3 * a)),
    "cos": (["IJ"], lambda a: jnp.cos(3 * a)),
    "sqrt": (["IJ"], lambda a: jnp.sqrt(a + 1.5)),
    "rsqrt": (["IJ"], lambda a: lax.rsqrt(a + 1.5)),
    "erf": (["IJ"], lambda a: lax.erf(a)),
    "pow": (["IJ", "J"], lambda a, b: (a + 1.5) ** b),
    "sigmoid": (["IJ"], lambda a: nn.sigmoid(3 * a)),
    "silu": (["IJ"], lambda a: nn.silu(3 * a)),
    "gelu": (["IJ"], lambda a: nn.gelu(3 * a, approximate=False)),
    "gelu_tanh": (["IJ"], lambda a: nn.gelu(3 * a, approximate=True)),
    "relu": (["IJ"], nn.relu),
    "clamp": (["IJ"], lambda a: jnp.clip(a, -0.25, 0.5)),
    "abs": (["IJ"], jnp.abs),
    "square": (["IJ"], jnp.square),
    "maximum": (["IJ", "J"], jnp.maximum),
    "minimum": (["IJ", "J"], jnp.minimum),
    "where": (["IJ", "J"], lambda a, b: jnp.where(a < b, a * b, b)),
    # rows
    "softmax": (["IJ"], lambda a: nn.softmax(2 * a, axis=0)),
    "log_softmax": (["IJ"], lambda a: nn.log_softmax(2 * a, axis=1)),
    "log_sum_exp": (["IJ"], lambda a: nn.logsumexp(2 * a, axis=1)),
    "cross_entropy": (["JI"], lambda a: nn.logsumexp(a, axis=1) - a[np.arange(4), index]),
    "rms_norm": (["IJ", "J"], lambda a, g: norm_of(a, 1, 1e-6, False) * g),
    "layer_norm": (["IJ", "J", "J"], lambda a, g, b: norm_of(a, 1, 1e-5, True) * g + b),
    # reductions
    "max": (["IJ"], lambda a: a.max(1)),
    "min": (["IJ"], lambda a: a.min(0)),
    "prod": (["IJ"], lambda a: a.prod(1)),
    "norm": (["IJ"], lambda a: jnp.linalg.norm(a, axis=1)),
    "variance": (["IJ"], lambda a: a.var(1)),
    "standard_deviation": (["IJ"], lambda a: a.std(0, ddof=1)),
    # running
    "cumsum": (["IJ"], lambda a: a.cumsum(1)),
    "cumprod": (["IJ"], lambda a: a.cumprod(0)),
    "cummax": (["IJ"], lambda a: lax.cummax(a, axis=1)),
    "cummin": (["IJ"], lambda a: lax.cummin(a, axis=0)),
    "reversed": (["IJ"], lambda a: a[::-1].cumsum(0)[::-1]),
    "sort": (["IJ"], lambda a: jnp.sort(a, axis=1)),
    "top_k": (["IJ"], lambda a: lax.top_k(a, 2)[0]),
    # indices
    "take": (["IL"], lambda a: a[index]),
    "scatter_add": (["JL"], lambda a: jnp.zeros((3, 3)).at[index].add(a)),
    "segment_sum": (["JL"], lambda a: jax.ops.segment_sum(a, index, 3)),
    # shape
    "transpose": (["IJK"], lambda a: a.transpose(2, 0, 1)),
    "broadcast": (["J"], lambda a: jnp.broadcast_to(a, (3, 4))),
    "window": (["IJ"], lambda a: a[:, 1:3]),
    "pad": (["IJ"], lambda a: jnp.pad(a, ((1, 2), (0, 0)))),
    "roll": (["IJ"], lambda a: jnp.roll(a, 1, axis=1)),
    "flip": (["IJ"], lambda a: a[::-1]),
    "concatenate": (["IJ", "IJ"], lambda a, b: jnp.concatenate([a, b], axis=0)),
    "lower_triangle": (["IJ"], lambda a: jnp.tril(a)),
    # attention
    "rope": (["JLK"], turned),
    "attention": (["BIL", "BKL", "BKL"], attend),
    "causal attention": (["BIL", "BKL", "BKL"], lambda q, k, v: attend(q, k, v, np.tril(np.ones((3, 2), bool)))),
}


def answers(letters, program):
    shapes = [tuple(EXTENTS[l] for l in each) for each in letters]
    operands = [numbers(k + 1, int(np.prod(s))).reshape(s) for k, s in enumerate(shapes)]

    def loss(*given):
        result = program(*given)
        return jnp.sum(result * numbers(WEIGHTS, result.size).reshape(result.shape))

    value, gradients = jax.value_and_grad(loss, argnums=tuple(range(len(operands))))(*operands)
    return np.concatenate([[value]] + [np.ravel(g) for g in gradients])


print(f"""// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Written by make.py with JAX {jax.__version__} on the CPU: of each program its value, and its gradient by every
/// operand, row-major.

#include <cstddef>

namespace oracle {{

struct answer {{
  char const* name;
  std::size_t first, count;  // in numbers
}};
""")
all_numbers, rows = [], []
for name, (letters, program) in PROGRAMS.items():
    found = answers(letters, program)
    assert np.all(np.isfinite(found)), name
    rows.append(f'    {{"{name}", {len(all_numbers)}, {len(found)}}},')
    all_numbers += [repr(float(v)) for v in found]
print("inline constexpr answer answers[] = {", *rows, "};", "", "inline constexpr double numbers[] = {", sep="\n")
line = "   "
for v in all_numbers:
    if len(line) + len(v) + 2 > 120:
        print(line)
        line = "   "
    line += f" {v},"
print(line, "};", "", "}  // namespace oracle", sep="\n")
