#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of product_cost.hpp from measured ways (`contractions ways=1 random=80 counts=FILE`): nonnegative least squares of relative errors, the
ways near each case's fastest weighing most; then what the model would have lost with these constants. Needs NumPy and SciPy."""

import re
import sys

import numpy
from scipy.optimize import lsq_linear

here = __file__.rsplit("/", 1)[0]
header = open(here + "/../../include/ostraka/engine/kernels/products/product_cost.hpp", encoding="utf-8").read()
names = [n for n in re.findall(r"^  (\w+),", header[header.index("enum class cost"):header.index("inline constexpr int")], re.M)]
before = numpy.array([float(x) for x in re.search(r"nanoseconds_of\[cost_count\] = \{(.*?)\}", header, re.S)[1].split(",")])

cases = {}
for file in sys.argv[1:]:
    for line in open(file, encoding="utf-8"):
        case, way, seconds, _, *counts = line.split()
        cases.setdefault(case, {}).setdefault(way, []).append((float(seconds) * 1e9, [float(c) for c in counts]))
for ways in cases.values():
    for way, runs in ways.items():
        ways[way] = min(runs)


def lost(constants):
    """Per case: the time of the way that these constants choose, over the fastest's."""
    all_lost = {}
    for case, ways in cases.items():
        chosen = min(ways.values(), key=lambda w: numpy.dot(w[1], constants))
        all_lost[case] = chosen[0] / min(w[0] for w in ways.values())
    return all_lost


def say(what, constants):
    values = lost(constants)
    logs = numpy.log(list(values.values()))
    worst = sorted(values, key=values.get)[-8:]
    print(f"{what}: lost {100 * (numpy.exp(logs.mean()) - 1):.1f} %, worst " + ", ".join(f"{w} {values[w]:.2f}" for w in reversed(worst)))


rows, weights = [], []
for ways in cases.values():
    best = min(w[0] for w in ways.values())
    for seconds, counts in ways.values():
        rows.append(numpy.array(counts) / seconds)
        weights.append((best / seconds) ** 2)
matrix, weight = numpy.array(rows), numpy.array(weights)
held = 0.05  # a constant that the data say nothing about stays
pull = numpy.diag(held / numpy.maximum(before, 1e-3)) * numpy.sqrt(len(rows)) * 0.1
left = numpy.vstack([matrix * weight[:, None], pull])
right = numpy.concatenate([weight, pull @ before])
fitted = lsq_linear(left, right, bounds=(0, numpy.inf)).x
for _ in range(10):  # outliers (a disturbed timing, an effect that nothing counts) weigh less
    off = numpy.abs(matrix @ fitted - 1)
    robust = weight / numpy.maximum(1, off / 0.2)
    left = numpy.vstack([matrix * robust[:, None], pull])
    fitted = lsq_linear(left, numpy.concatenate([robust, pull @ before]), bounds=(0, numpy.inf)).x
for name, b, f in zip(names, before, fitted):
    print(f"{name:20}{b:10.4g}{f:10.4g}")
print(", ".join(f"{f:.3g}" for f in fitted))
say("before", before)
say("fitted", fitted)


def objective(constants):
    away = numpy.log(numpy.maximum(constants, 1e-4) / numpy.maximum(fitted, 1e-4))
    return numpy.mean(numpy.log(list(lost(constants).values()))) + 0.01 * numpy.mean(away**2)


# What matters is the choice: each constant up and down a little, as long as that chooses better.
chosen = fitted.copy()
least = objective(chosen)
for step in (1.6, 1.3, 1.15, 1.3, 1.1):
    for i in range(len(chosen)):
        for factor in (step, 1 / step):
            tried = chosen.copy()
            tried[i] *= factor
            if (now := objective(tried)) < least:
                least, chosen = now, tried
print(", ".join(f"{f:.3g}" for f in chosen))
say("chosen", chosen)
