# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The block of training.cpp, for JAX and PyTorch: extents, divisions, numbers, and the clock of its steps."""
import statistics
import time

B, S, D, H, W, F = 4, 128, 512, 8, 64, 1408
SHAPES = {"x": (B, S, D), "g1": (D,), "wq": (D, H, W), "wk": (D, H, W), "wv": (D, H, W), "wo": (H, W, D), "g2": (D,),
          "w1": (D, F), "w3": (D, F), "w2": (F, D)}
FULLY, TENSOR, BOTH = "fully sharded", "tensor parallel", "fully sharded by 2, tensor parallel"


def layouts_of(ranks):
    """Names and meshes (X: fully sharded, with the batch; Y: tensor parallel)."""
    layouts = {FULLY: (ranks, 1), TENSOR: (1, ranks)}
    if ranks >= 4 and ranks % 2 == 0:
        layouts[BOTH] = (2, ranks // 2)
    return layouts


def values(numpy):
    """The numbers of training.cpp: of an element's indices alone."""
    def filled(salt, size, shape):
        shape = tuple(shape)
        if shape[-1] == W or (len(shape) == 3 and shape[1] == W):  # a head's width is two axes there
            at = shape.index(W)
            split = shape[:at] + (2, W // 2) + shape[at + 1:]
        else:
            split = shape
        h = numpy.full(split, salt, dtype=numpy.uint32)
        for axis, extent in enumerate(split):
            i = numpy.arange(extent, dtype=numpy.uint32).reshape([-1 if a == axis else 1 for a in range(len(split))])
            h = (h ^ i) * numpy.uint32(0x9E3779B1)
            h ^= h >> numpy.uint32(15)
        return (((h % 2001).astype(numpy.float32) / numpy.float32(1000) - 1) * numpy.float32(size)).reshape(shape)

    p = {name: filled(salt, 1 if name in ("x", "g1", "g2") else 0.1, shape)
         for salt, (name, shape) in enumerate(SHAPES.items(), 1)}
    return p, filled(11, 1, SHAPES["x"])


def seconds(run):
    """The median of five samples."""
    run(), run()
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def angles(numpy):
    at = numpy.arange(S)[:, None] * 10000.0 ** (-numpy.arange(W // 2)[None, :] / (W // 2))
    return numpy.cos(at).astype(numpy.float32), numpy.sin(at).astype(numpy.float32)
