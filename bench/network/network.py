# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product next to a move over TCP under a rate limit: blocking against overlapped, where the move takes as long as
the product.

    python3 network.py [--program build/bench/network] [--ranks 2] [--extent 2048] [--rounds 7] [--share 1.0]
    [--progress-thread]

It needs root, unshare, ip, tc (iproute2) and Open MPI. The network is the loopback of a namespace of its own, so
nothing outside is touched; `tc qdisc … tbf` limits the traffic of all ranks together. The script finds the rate: it
times the product, then sets the rate so that the move takes --share times as long.
"""
import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys


def missing():
    if os.geteuid() != 0:
        yield "root (a namespace and its rate limit are made)"
    for tool in ("unshare", "ip", "tc", "mpirun"):
        if not shutil.which(tool):
            yield f"the program {tool}"
    if shutil.which("mpirun") and "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True,
                                                                   text=True).stdout:
        yield "an mpirun of Open MPI (others choose their network by other options)"


def limit(rate):
    """Bytes a second, on the loopback; none for 0. A short queue of tokens, and a long one of packets: nothing is
    dropped."""
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], stderr=subprocess.DEVNULL)
    if rate > 0:
        burst = max(131072, int(rate * 0.001))
        command = f"tc qdisc add dev lo root tbf rate {int(8 * rate)}bit burst {burst} limit 64mb"
        subprocess.run(command.split(), check=True)


def run(given, *options, show=False):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OSTRAKA_ADVISE="0",
                       KOKKOS_DISABLE_WARNINGS="1")
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
               "--mca", "btl_tcp_if_include", "lo"]
    if given.progress_thread:
        command += ["--mca", "btl_tcp_progress_thread", "1"]
    if given.ranks > (os.cpu_count() or 1):
        command += ["--mca", "mpi_yield_when_idle", "1"]
    command += ["-n", str(given.ranks), given.program, f"extent={given.extent}", *options]
    if show:
        return subprocess.run(command, env=environment, check=True)
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def rate_for(given, what):
    """Where the move takes --share times the product: the rate that bytes and seconds say, then corrected by what was
    measured."""
    def measured():
        return [r for r in run(given, "calibrate=1") if r["what"] == what][0]

    row = measured()
    rate = row["bytes"] / (given.share * row["computes"])
    for _ in range(4):
        limit(rate)
        row = measured()
        wrong = row["moves"] / (given.share * row["computes"])
        if abs(wrong - 1) < 0.03:
            break
        rate *= wrong
    print(f"{what}: {rate * 8e-9:.2f} Gbit/s for all ranks together; product {1e3 * row['computes']:.1f} ms, move "
          f"{1e3 * row['moves']:.1f} ms", flush=True)


def inside(given, more):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for what in ("gather", "scatter"):
        if given.only not in what:
            continue
        limit(0)
        rate_for(given, what)
        file = [f"json={given.json}.{what}.json"] if given.json else []
        run(given, f"only={what}", f"rounds={given.rounds}", *file, *more, show=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bench/network")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--extent", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--share", type=float, default=1.0, help="seconds of the move per second of the product")
    parser.add_argument("--only", default="", help="gather, scatter")
    parser.add_argument("--json", help="the beginning of the files' names")
    parser.add_argument("--progress-thread", action="store_true", help="Open MPI's, for comparison")
    given, more = parser.parse_known_args()

    lacks = list(missing())
    if lacks:
        print("bench/network does nothing: it lacks " + "; ".join(lacks), file=sys.stderr)
        return
    given.program = os.path.abspath(given.program)
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:  # CLONE_NEWNET: this process and its children
        print("bench/network does nothing: the kernel gives no network namespace", file=sys.stderr)
        return
    inside(given, more)


main()
