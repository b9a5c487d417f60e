# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_complex.py > complex_gradients.hpp

For each program of the table, a real number made of complex ones, and its gradient by them, by JAX in double precision:
∂u/∂x − i ∂u/∂y. The programs stand by the same names in ../complex.cpp. Numbers are a function of a seed and of the
element's place.
"""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

EXTENTS = {"I": 3, "J": 4, "K": 2}


def numbers(seed, shape):
    """splitmix64 of seed · 2³² + place: from −1 up to 1."""
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = (np.uint64(seed << 32) + np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1).reshape(shape)


def complex_numbers(seed, letters):
    shape = tuple(EXTENTS[l] for l in letters)
    return numbers(seed, shape) + 1j * numbers(seed + 1, shape)


def functions(p):
    h = jnp.exp((0.3 + 0.1j)
                * p) + jnp.sin(p) * jnp.cos(p) + jnp.tanh(p) + jnp.log(p + (4 + 3j)) + jnp.sqrt(p + (5 + 2j))
    h = h + p * p / (p + 6j) - jnp.exp(-p)
    part = jnp.abs(p) * jnp.imag(jnp.conj(h) * p) + jnp.real(h) - jnp.abs(h)
    return jnp.real(h * part)


w, b, index = complex_numbers(3, "IJ"), complex_numbers(5, "JK"), np.array([2, 0, 2, 1])


def squares(y):
    return jnp.sum(jnp.abs(y) ** 2)


def gram(p):
    return jnp.real(jnp.sum((p @ jnp.conj(p).T) * (1 + 2j))) + squares(p @ p.T)


def shapes(p):
    rolled = jnp.roll(p, 1, axis=1) * w
    padded = jnp.pad(rolled[:, 1:3], ((0, 0), (1, 1)))
    taken = p[index].T @ jnp.concatenate([p, p], axis=0)[:4]
    return squares(padded + jnp.where(np.real(w) > 0, p * p, 1j)) + squares(taken)


PROGRAMS = {
    "functions": lambda p: jnp.mean(functions(p)),
    "product": lambda p: squares(p @ b) + jnp.real(jnp.sum(w * p)) - jnp.imag(jnp.mean(p)),
    "gram": gram,
    "norms": lambda p: jnp.sum(jnp.linalg.norm(p, axis=1) ** 3) + jnp.sum(p.var(1))
    + jnp.sum(jnp.std(p, axis=0, ddof=1)),
    "products": lambda p: squares(p.prod(1)) + squares(jnp.cumsum(p, 1) * jnp.cumprod(p, 0)),
    "shapes": shapes,
    "from real": lambda p: squares(jnp.exp(1j * jnp.real(p)) * b.sum() + jnp.imag(p) * w),
}

print(f"""// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Written by make_complex.py with JAX {jax.__version__} on the CPU: of each program its value, and its gradient,
/// row-major, the real and the imaginary part of each element.

namespace oracle {{

struct complex_answer {{
  char const* name;
  double value;
  double gradient[24];
}};

inline constexpr complex_answer complex_answers[] = {{""")
for name, program in PROGRAMS.items():
    value, gradient = jax.value_and_grad(program)(complex_numbers(1, "IJ"))
    assert np.isfinite(value) and np.all(np.isfinite(gradient)), name
    flat = np.stack([np.ravel(gradient.real), np.ravel(gradient.imag)], axis=1).ravel()
    print(f'    {{"{name}",\n     {float(value)!r},')
    line = "     {"
    for k, v in enumerate(flat):
        text = f"{float(v)!r}" + ("}}," if k == 23 else ", ")
        if len(line) + len(text.rstrip()) > 120:
            print(line.rstrip())
            line = "      "
        line += text
    print(line)
print("};", "", "}  // namespace oracle", sep="\n")
