# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cholesky_oracle.py FOLDER COMMAND...

COMMAND FOLDER runs examples/cholesky, which saves two matrices, a factor, eigenvalues and eigenvectors. NumPy computes
the results from the matrices, and they are compared. Skipped without NumPy or ScaLAPACK.
"""

import os
import shutil
import subprocess
import sys


def require(error, limit, what):
    print(f"{what}: {error:.1e}")
    if not error <= limit:
        sys.exit(f"FAILED: {what}")


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    try:
        import numpy as np
    except ImportError as missing:
        print(f"SKIPPED: {missing}")
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    ended = subprocess.run([*command, folder])
    if ended.returncode:
        sys.exit(ended.returncode)
    a, l, s, values, vectors = (np.load(f"{folder}/{name}.npy") for name in ("A", "L", "S", "values", "vectors"))
    require(np.abs(np.tril(l) - np.linalg.cholesky(a)).max(), 1e-13, "the Cholesky factor and NumPy's")
    expected, its_vectors = np.linalg.eigh(s)
    require(np.abs(values - expected).max(), 1e-13, "eigenvalues and NumPy's")
    # All eigenvalues differ, so eigenvectors agree but for their signs.
    signs = np.sign((vectors * its_vectors).sum(axis=0))
    require(np.abs(vectors * signs - its_vectors).max(), 1e-10, "eigenvectors and NumPy's")


main()
