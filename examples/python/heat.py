# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpiexec -n 4 python3 heat.py [PICTURE.png]

Heat spreads from three spots, by the solver of heat_module.cpp. Each rank makes its rows with NumPy and passes them to
the solver, which reads them in place; NumPy reads the result in place, too. The program compares the result with
NumPy's own steps on the whole field.
"""

import sys

try:
    from mpi4py import MPI  # first: it begins MPI, and ends it last
    import numpy as np
    import ostraka_heat
except ImportError as missing:
    print(f"SKIPPED: this python3 has no {missing.name}; examples/python/README.md says how to install it")
    sys.exit(77)


def spots(n, m):
    i, j = np.mgrid[0:n, 0:m] / max(n, m)
    circles = [(0.3, 0.3, 0.15), (0.6, 0.7, 0.2), (0.8, 0.2, 0.1)]
    near = [(i - row) ** 2 + (j - column) ** 2 < radius**2 for row, column, radius in circles]
    return np.any(near, axis=0).astype(float)


def steps_of_numpy(u, r, steps):
    for _ in range(steps):
        wide = np.pad(u, 1)
        u = u + r * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * u)
    return u


def main():
    world = MPI.COMM_WORLD
    good = True
    for n, m in [(64, 48), (4 * world.size + 1, 7), (1, 5), (3, 1)]:
        solver = ostraka_heat.Solver(world, n, m, 0.2)
        begin, end = solver.rows()
        field = solver.advance(spots(n, m)[begin:end], 40)
        for _ in range(2):  # what came back is given again, and only read: once as it is, once as an array of NumPy
            field = solver.advance(np.from_dlpack(field), 30)
            field = solver.advance(field, 0)
        whole = np.from_dlpack(solver.whole(field))
        good = good and np.abs(whole - steps_of_numpy(spots(n, m), 0.2, 100)).max() < 1e-13
        good = good and np.array_equal(np.from_dlpack(field), whole[begin:end])
    good = world.allreduce(good, MPI.LAND)

    n = m = 128
    solver = ostraka_heat.Solver(world, n, m, 0.2)
    begin, end = solver.rows()
    heat = np.from_dlpack(solver.whole(solver.advance(spots(n, m)[begin:end], 200)))
    if world.rank == 0 and len(sys.argv) > 1:
        try:
            import matplotlib

            matplotlib.use("Agg")
            from matplotlib import pyplot

            pyplot.imshow(heat, cmap="inferno")
            pyplot.colorbar(label="heat")
            pyplot.savefig(sys.argv[1])
            print(f"{sys.argv[1]} is the picture")
        except ImportError:
            print("no picture: this python3 has no matplotlib")
    if world.rank == 0:
        print("as NumPy computes it" if good else "WRONG")
    return 0 if good else 1


sys.exit(main())
