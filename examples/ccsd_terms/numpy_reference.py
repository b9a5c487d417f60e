# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy_reference.py > numpy_reference.hpp

The terms of ccsd_terms.cpp in NumPy: for each term the sum of its elements, each times a weight that depends on its
position, and the sum of the elements' squares. All numbers are multiples of a quarter, so sums are exact in any order.
"""

import numpy as np

V, O = 11, 5  # virtual and occupied spin orbitals


def small(seed, *extents):
    p, q, r, s = np.ogrid[tuple(map(slice, extents))]
    return ((3 * p + 5 * q * q + 2 * p * q + 7 * r + 3 * s * s + r * s + p * s + q * r + seed) % 5 - 2).astype(float)


def antisymmetric(seed, p, q, r, s):
    h = small(seed, p, q, r, s)
    return h - h.transpose(1, 0, 2, 3) - h.transpose(0, 1, 3, 2) + h.transpose(1, 0, 3, 2)


t1 = small(1, V, O, 1, 1)[:, :, 0, 0]
t2 = antisymmetric(2, V, V, O, O)
vvvv = antisymmetric(3, V, V, V, V)
oooo = antisymmetric(4, O, O, O, O)
ovvo = small(5, O, V, V, O)
oovv = antisymmetric(6, O, O, V, V)

ring = np.einsum("kbcj,acik->abij", ovvo, t2)
singles = np.einsum("klcd,ck,di,ablj->abij", oovv, t1, t1, t2, optimize=True)
terms = {
    "particle_ladder": 0.5 * np.einsum("abcd,cdij->abij", vvvv, t2),
    "hole_ladder": 0.5 * np.einsum("klij,abkl->abij", oooo, t2),
    "rings": ring - ring.transpose(1, 0, 2, 3) - ring.transpose(0, 1, 3, 2) + ring.transpose(1, 0, 3, 2),
    "quadratic": 0.25 * np.einsum("klcd,cdij,abkl->abij", oovv, t2, t2, optimize=True),
    "singles": singles.transpose(0, 1, 3, 2) - singles,
}
weights = (np.arange(V * V * O * O) % 13 - 6).reshape(V, V, O, O)

print("// SPDX-FileCopyrightText: The Ostraka authors")
print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
print("#pragma once\n")
print("/// @file")
print(f"/// What NumPy {np.__version__} says of the terms: written by numpy_reference.py.\n")
print("struct checksums {\n  double weighted, squares;\n};\n")
print("namespace numpy {\n")
for name, x in terms.items():
    print(f"inline constexpr checksums {name}{{{(x * weights).sum():.2f}, {(x * x).sum():.4f}}};")
print(f"inline constexpr double energy = {0.25 * np.einsum('klcd,cdkl->', oovv, t2):.2f};")
print("\n}  // namespace numpy")
