# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpiexec -n 3 python3 -m mpi4py dlpack_oracle.py

NumPy's arrays, and PyTorch's where there is PyTorch, become tensors and come back: without copies, with the right
owner, and with one error on all ranks where they do not fit.
"""

import gc
import sys

try:
    from mpi4py import MPI
    import numpy as np
    import ostraka_arrays as arrays
except ImportError as missing:
    print(f"SKIPPED: this python3 has no {missing.name}, so no array was passed between Python and the library; "
          "bash cmake/bootstrap.sh test installs what it needs, or name a Python that has it with "
          "-DOSTRAKA_FILES_PYTHON=")
    sys.exit(77)

world = MPI.COMM_WORLD
mesh = arrays.Mesh(world)
culprit = world.size - 1
versioned = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 1)  # NumPy knows DLPack 1


failures = []


def require(holds, what):
    if not holds:
        failures.append(what)


def rows(n):
    return world.rank * n // world.size, (world.rank + 1) * n // world.size


def said(f):
    """The error of f, which all ranks have to make alike."""
    try:
        f()
        mine = "nothing"
    except RuntimeError as error:
        mine = str(error)
    everyone = world.allgather(mine)
    require(all(one == mine for one in everyone), f"ranks differ: {everyone}")
    return mine


def owners(array):
    gc.collect()
    return sys.getrefcount(array)


def numbers(n, k, dtype):
    begin, end = rows(n)
    return (np.arange(begin * k, end * k) % 2).reshape(end - begin, k).astype(dtype)


def same_memory(block, array):
    address = array.__array_interface__["data"][0]
    return array.size == 0 or np.from_dlpack(block).__array_interface__["data"][0] == address


class Refuses:
    def __dlpack__(self, **_):
        raise ValueError("not today")


for name in ["float64", "float16", "complex64", "int8", "bool"]:
    adopt, copy, swapped = (getattr(arrays, f"{verb}_{name}") for verb in ["adopt", "copy", "adopt_swapped"])
    for n, k in [(4 * world.size + 1, 3), (world.size - 1, 2), (0, 4), (5, 0)][: 4 if name == "float64" else 2]:
        array = numbers(n, k, name)
        before = owners(array)
        block = adopt(mesh, n, k, array)
        require(same_memory(block, array), f"{name} {n, k}: another place")
        require(owners(array) > before, f"{name} {n, k}: the tensor owns nothing")
        back = np.from_dlpack(block)
        require(back.dtype == array.dtype and np.array_equal(back, array), f"{name} {n, k}: other elements")
        if array.size:
            array[0, 0] = 1
            require(back[0, 0] == 1, f"{name} {n, k}: a copy")
        del block
        require(owners(array) > before and np.array_equal(back, array), f"{name} {n, k}: the owner is gone")
        del back
        require(owners(array) == before, f"{name} {n, k}: {owners(array) - before} owners remain")

        fortran = np.asfortranarray(array)
        turned = np.from_dlpack(swapped(mesh, n, k, fortran))
        require(np.array_equal(turned, array.T), f"{name} {n, k}: not turned")
        for other in [fortran, np.repeat(array, 2, axis=1)[:, ::2], np.repeat(array, 2, axis=0)[::-2], array[:, ::-1]]:
            require(np.array_equal(np.from_dlpack(copy(mesh, n, k, other)), other), f"{name} {n, k}: copied wrongly")

# Arrays with ghost layers, of any positive strides: used where they are, and exported without the ghosts.
n, k = 2 * world.size + 1, 3
begin, end = rows(n)
whole = np.arange(n * k, dtype=np.float64).reshape(n, k)


def with_ghosts(make):
    padded = make((end - begin + 2, k + 2))
    padded[...] = -1
    padded[1:-1, 1:-1] = whole[begin:end]
    return padded


for make in [np.empty, lambda shape: np.empty(shape, order="F"),
             lambda shape: np.empty((shape[0], 3 * shape[1]))[:, ::3]]:
    padded = with_ghosts(make)
    before = owners(padded)
    field = arrays.adopt_ghosted_float64(mesh, n, k, padded)
    arrays.exchange_float64(field)
    require(np.array_equal(padded[0, 1:-1], whole[begin - 1]) and np.array_equal(padded[-1, 1:-1], whole[end % n]),
            "ghosts")
    require(np.all(padded[:, [0, -1]] == -1), "ghosts beyond the ends")
    inner = np.from_dlpack(field)
    require(np.array_equal(inner, whole[begin:end]) and inner.strides == padded.strides, "the interior")
    require(np.shares_memory(inner, padded), "a copy of the interior")
    inner[...] = 7
    require(padded[1, 1] == 7, "not written through")
    del field
    require(owners(padded) > before, "the owner of the interior is gone")
    del inner
    require(owners(padded) == before, "the array with ghost layers has an owner too many")
    padded.flags.writeable = False
    refused = said(lambda: arrays.adopt_ghosted_float64(mesh, n, k, padded))
    require(("are read only" if versioned else "refuses: BufferError") in refused, refused)
    if versioned:
        back = np.from_dlpack(arrays.adopt_ghosted_constant_float64(mesh, n, k, padded))
        require(not back.flags.writeable and np.all(back == 7), "a constant interior is written")
    del padded
padded = with_ghosts(np.empty)
short = padded[: padded.shape[0] - (world.rank == culprit)]
require(f"that of device {culprit} has not" in said(lambda: arrays.adopt_ghosted_float64(mesh, n, k, short)),
        "too few rows")
require("a negative one" in said(lambda: arrays.adopt_ghosted_float64(mesh, n, k, padded[::-1])), "rows backwards")

n, k = 2 * world.size, 3
array = numbers(n, k, np.float64)
before = owners(array)

# A capsule is used once, and one that nothing has used gives its array back.
capsule = array.__dlpack__()
block = arrays.adopt_float64(mesh, n, k, capsule)
require('"used_dltensor' in repr(capsule), f"the capsule is {capsule}")
none = ("from_dlpack: each device gives a DLPack tensor that has not been used before, but device {} gives none; "
        "ask the producer for one for each call")
require(said(lambda: arrays.adopt_float64(mesh, n, k, capsule)) == none.format(0), "used twice")
del capsule
require(owners(array) == before + 1, "the capsule and the tensor are two owners")
for version in [None, (1, 0), (0, 8)]:
    unused = block.__dlpack__(max_version=version)
    require(('"dltensor_versioned"' if version == (1, 0) else '"dltensor"') in repr(unused), f"{version}: {unused}")
del block
require(owners(array) == before + 1, "the capsule has no owner")
del unused
require(owners(array) == before, "an unused capsule keeps its array")

# A tensor that ends on a thread without the GIL.
block = arrays.adopt_float64(mesh, n, k, array)
block.drop_in_another_thread()
require(owners(array) == before, "the thread kept the array")
del block

# Errors: one sentence on all ranks, and nothing is kept.
strided = np.zeros((2, 2 * k))[:, ::2]
for given, wanted in [
    (None, none.format(culprit)),
    (array.astype(np.float32), "from_dlpack: the elements are those of the tensor, float64, but those of device "
                               f"{culprit} are float32; convert them first"),
    (array.ravel(), f"from_dlpack: a DLPack tensor has a dimension for each axis, 2, but that of device {culprit} has "
                    "1; reshape it first"),
    (strided, f"from_dlpack: a block lies row-major without gaps, but the view of device {culprit} is a part of a "
              "larger one, padded, or in another "
              "order; copy it with os::copy_from_dlpack, or adopt what lies in another order as a tensor of the axes "
              "in that order, with "
              "os::in_order<…>(view)"),
    (Refuses(), f"from_dlpack: a producer gives its array by __dlpack__, but device {culprit}'s refuses: ValueError: "
                "not today"),
    (7, f"from_dlpack: a producer gives its array by __dlpack__, but device {culprit}'s refuses: AttributeError: 'int' "
        "object has no attribute "
        "'__dlpack__'"),
]:
    mine = given if world.rank == culprit else array
    require(said(lambda: arrays.adopt_float64(mesh, n, k, mine)) == wanted, f"{given!r}: {wanted}")
del mine, given
require(owners(array) == before, "an error keeps the array")
require("refuses: BufferError" in said(lambda: arrays.adopt_float64(mesh, n, k, array.astype(">f8"))),
        "another byte order")

# Read-only arrays.
array.flags.writeable = False
refused = said(lambda: arrays.adopt_float64(mesh, n, k, array))
require(("are read only" if versioned else "refuses: BufferError") in refused, refused)
if versioned:
    constant = arrays.adopt_constant_float64(mesh, n, k, array)
    back = np.from_dlpack(constant)
    require(np.array_equal(back, array) and not back.flags.writeable, "constant elements are written")
    require(np.array_equal(np.from_dlpack(arrays.copy_float64(mesh, n, k, array)), array), "not copied")
    try:
        constant.__dlpack__()
        require(False, "exported without its flag")
    except BufferError:
        pass
array.flags.writeable = True

torch_is_here = ""
try:
    import torch

    torch_is_here = f", PyTorch {torch.__version__}"
    for name in ["float64", "float16", "bfloat16", "complex64", "int8", "bool"]:
        tensor = torch.from_numpy(numbers(n, k, np.int8)).to(getattr(torch, name))
        try:
            back = torch.from_dlpack(getattr(arrays, f"adopt_{name}")(mesh, n, k, tensor))
        except RuntimeError as error:  # PyTorch before version 2.2 exports no bool
            require(name == "bool" and "refuses" in str(error), f"{name}: {error}")
            continue
        require(back.dtype == tensor.dtype and back.data_ptr() == tensor.data_ptr() and torch.equal(back, tensor), name)
    padded = torch.zeros(4, k + 2, dtype=torch.float64)
    padded[1:-1, 1:-1] = 5
    inner = torch.from_dlpack(arrays.adopt_ghosted_float64(mesh, n, k, padded))
    require(inner.stride() == padded.stride() and bool((inner == 5).all()) and inner.shape == (2, k),
            "PyTorch's interior")
    inner[0, 0] = 6
    require(padded[1, 1] == 6, "PyTorch's interior is a copy")
except ImportError:
    pass

failures = sum(world.allgather(failures), [])
if failures:
    if world.rank == 0:
        print("\n".join(f"FAILED: {failure}" for failure in failures))
    sys.exit(1)
if world.rank == 0:
    print(f"NumPy {np.__version__}{torch_is_here}, mpi4py {MPI.Get_version()}")

# These live until Python ends, and beyond Kokkos.
left_behind = [arrays.adopt_float64(mesh, n, k, array), np.from_dlpack(arrays.copy_float64(mesh, n, k, array))]
