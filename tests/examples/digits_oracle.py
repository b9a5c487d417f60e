# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""digits_oracle.py digits.csv coefficients.csv COMMAND...

Solves the regression of examples/digits once more in NumPy, from the file and the published random-number generator
alone, and compares the coefficients and the accuracy with those of COMMAND.
"""

import re
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("SKIPPED: this python3 has no NumPy, so nothing was compared")
    sys.exit(77)

FEATURES, RIDGE, SEED = 307, 20.0, 2**32 + 7
PIXELS, CLASSES = 64, 10


def philox(index, seed):
    """Philox4x32-10 of Salmon et al. 2011 with the index as counter and the seed as key, as four arrays of 32-bit
    words."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [index & low, index >> shift, np.zeros_like(index), np.zeros_like(index)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ np.uint64(k0), p1 & low, (p0 >> shift) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def main():
    csv, saved, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    # The known answer of the authors' Random123 for counter and key 0.
    assert [int(w[0]) for w in philox(np.zeros(1, np.uint64), 0)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]

    command += ["--features", str(FEATURES), "--ridge", str(RIDGE), "--seed", str(SEED), "--save", saved]
    run = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True)
    print(run.stdout)
    assert run.returncode == 0, "the program failed"
    accuracy = float(re.search(r"Held-out accuracy: ([0-9.]+) %", run.stdout).group(1))
    theirs = np.loadtxt(saved, delimiter=",")

    data = np.loadtxt(csv, delimiter=",")
    images = np.hstack([data[:, :PIXELS] / 16, np.ones((len(data), 1))])
    digit = data[:, PIXELS].astype(int)
    words = philox(np.arange((PIXELS + 1) * FEATURES, dtype=np.uint64), SEED)
    uniform = ((words[0] >> np.uint64(5)) * 2.0**26 + (words[1] >> np.uint64(6))) / 2.0**53
    h = np.maximum(images @ (2 * uniform.reshape(PIXELS + 1, FEATURES) - 1), 0)
    truth = np.eye(CLASSES)[digit]
    held_out = np.arange(len(data)) % 5 == 4
    a = h[~held_out].T @ h[~held_out] + RIDGE * np.eye(FEATURES)
    ours = np.linalg.solve(a, h[~held_out].T @ truth[~held_out])
    our_accuracy = 100 * np.mean(np.argmax(h[held_out] @ ours, axis=1) == digit[held_out])

    difference = np.max(np.abs(theirs - ours))
    print(f"NumPy: accuracy {our_accuracy:.2f} %, coefficients up to {np.max(np.abs(ours)):.3g}, largest difference "
          f"{difference:.1e}")
    assert theirs.shape == ours.shape
    assert difference < 1e-8 * np.max(np.abs(ours)), "the coefficients differ"
    assert abs(accuracy - our_accuracy) < 0.01, "the accuracies differ"


main()
