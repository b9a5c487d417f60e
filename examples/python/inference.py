# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpiexec -n 4 python3 inference.py

A model of PyTorch between two steps of a solver: the heat spreads, a small network replaces each value, as a learned
source term would, and the heat spreads on. Each rank runs the model on its own rows. The tensors are passed by DLPack,
without a copy. The result is compared with that of the same program on the whole field, on one rank.
"""

import sys

try:
    from mpi4py import MPI
    import numpy as np
    import torch
    import ostraka_heat
except ImportError as missing:
    print(f"SKIPPED: this python3 has no {missing.name}; examples/python/README.md says how to install it")
    sys.exit(77)


def model():
    torch.manual_seed(7)
    layers = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    return layers.double().eval()


def pipeline(communicator, whole, network):
    n, m = whole.shape
    solver = ostraka_heat.Solver(communicator, n, m, 0.2)
    begin, end = solver.rows()
    field = solver.advance(whole[begin:end], 10)
    for _ in range(3):
        u = torch.from_dlpack(field)
        with torch.no_grad():
            v = network(u.reshape(-1, 1)).reshape(u.shape)
        field = solver.advance(v, 10)
    return np.from_dlpack(solver.whole(field))


def main():
    world = MPI.COMM_WORLD
    torch.set_num_threads(1)
    network = model()
    rng = np.random.default_rng(1)
    good = True
    for n, m in [(32, 24), (4 * world.size + 1, 5), (1, 3)]:
        whole = rng.random((n, m))
        together = pipeline(world, whole, network)
        alone = pipeline(MPI.COMM_SELF, whole, network)
        good = good and together.shape == (n, m) and np.abs(together - alone).max() < 1e-12
    good = world.allreduce(good, MPI.LAND)
    if world.rank == 0:
        print(f"PyTorch {torch.__version__} between the steps, {world.size} ranks as one" if good else "WRONG")
    return 0 if good else 1


sys.exit(main())
