# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives over several nodes, on two levels and on one: nodes are namespaces of this machine, each with a name of
its own.

    python3 levels.py [--program build/bench/levels] [--nodes 2] [--ranks 4] [--rate 1e9] [--delay 0] [name=value…]

It needs root, unshare, nsenter, ip, tc (iproute2) and Open MPI. Ranks of a node share memory. Nodes communicate by TCP
over a bridge and a pair of virtual devices for each node, where `tc` limits the traffic that leaves a node to --rate
bits a second, and delays it by --delay milliseconds. Open MPI takes the namespaces for machines, because they have
different names; os::make_mesh finds them by MPI_Comm_split_type. Nothing outside of the namespaces is touched.
"""
import argparse
import os
import shutil
import stat
import subprocess
import sys
import tempfile


def missing():
    if os.geteuid() != 0:
        yield "root (namespaces are made)"
    for tool in ("unshare", "nsenter", "ip", "tc", "mpirun"):
        if not shutil.which(tool):
            yield f"the program {tool}"
    if shutil.which("mpirun") and "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True,
                                                                   text=True).stdout:
        yield "an mpirun of Open MPI (others choose their network by other options)"


def call(command, **more):
    return subprocess.run(command.split(), check=True, **more)


class node:
    """A namespace of networks and names, held by a process that sleeps."""

    def __init__(self, number):
        self.name, self.address = f"node{number}", f"10.77.0.{number + 1}"
        self.holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c",
                                        f"hostname {self.name} && echo made && exec sleep 100000"],
                                       stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "made\n":
            raise OSError("the kernel gives no namespaces")

    def inside(self, command, **more):
        return call(f"nsenter --target {self.holder.pid} --net --uts {command}", **more)

    def connect(self, number, rate, delay):
        call(f"ip link add to{number} type veth peer name eth0 netns {self.holder.pid}")
        call(f"ip link set to{number} master bridge0 up")
        self.inside(f"ip addr add {self.address}/24 dev eth0")
        for device in ("lo", "eth0"):
            self.inside(f"ip link set {device} up")
        if delay > 0:
            self.inside(f"tc qdisc add dev eth0 root handle 1: netem delay {delay}ms limit 100000")
        if rate > 0:
            parent = "parent 1:1" if delay > 0 else "root"
            self.inside(f"tc qdisc add dev eth0 {parent} tbf rate {int(rate)}bit burst "
                        f"{max(131072, int(rate / 8 * 0.001))} limit 64mb")


def run(given, more):
    """In a namespace of networks of its own, where the bridge is."""
    call("ip link set lo up")
    call("ip link add bridge0 type bridge")
    call("ip link set bridge0 up")
    nodes = []
    try:
        for number in range(given.nodes):
            nodes.append(node(number))
            nodes[-1].connect(number, given.rate, given.delay)
        with tempfile.TemporaryDirectory() as folder:
            # The agent that starts a daemon on a node enters its namespaces instead of logging in.
            agent = os.path.join(folder, "enter")
            with open(agent, "w") as f:
                f.write("#!/bin/sh\ncase $1 in\n")
                for n in nodes:
                    f.write(f"{n.address}) shift; exec nsenter --target {n.holder.pid} --net --uts sh -c \"$*\";;\n")
                f.write("esac\nexit 1\n")
            os.chmod(agent, os.stat(agent).st_mode | stat.S_IXUSR)
            hosts = ",".join(f"{n.address}:{given.ranks}" for n in nodes)
            settings = {"btl": "vader,tcp,self", "pml": "ob1", "btl_tcp_if_include": "10.77.0.0/24",
                        "oob_tcp_if_include": "10.77.0.0/24", "plm_rsh_agent": agent}
            if given.nodes * given.ranks > (os.cpu_count() or 1):
                settings["mpi_yield_when_idle"] = "1"
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--host", hosts, "-n",
                       str(given.nodes * given.ranks)]
            for name, value in settings.items():
                command += ["--mca", name, value]
            for name in ("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "KOKKOS_DISABLE_WARNINGS=1",
                         "OSTRAKA_ADVISE=0"):
                command += ["-x", name]
            nsenter = ["nsenter", "--target", str(nodes[0].holder.pid), "--net", "--uts"]
            subprocess.run(nsenter + command + [given.program, *more], check=True, env=dict(os.environ, TMPDIR=folder))
    finally:
        for n in nodes:
            n.holder.terminate()
            n.holder.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bench/levels")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4, help="on each node")
    parser.add_argument("--rate", type=float, default=1e9, help="bits a second that leave a node; 0: no limit")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds one way")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given, more = parser.parse_known_args()
    lacks = list(missing())
    if lacks:
        print("bench/levels does nothing: it lacks " + "; ".join(lacks), file=sys.stderr)
        return
    given.program = os.path.abspath(given.program)
    if not given.inside:
        os.execvp("unshare",
                  ["unshare", "--net", "--", sys.executable, os.path.abspath(__file__), "--inside", *sys.argv[1:]])
    run(given, more)


main()
