# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the traced program and reads its files as a viewer does: they are JSON, spans nest, there is a process for each
rank, what stands on the first row adds up to the time that the program took, and bytes are those that os::cost_of
counts.

    check.py <folder> <ranks> <launcher…> <program>
"""

import json
import os
import subprocess
import sys

folder, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
os.makedirs(folder, exist_ok=True)
for old in os.listdir(folder):
    os.remove(os.path.join(folder, old))
whole = os.path.join(folder, "whole.json")


def run(**variables):
    said = subprocess.run(command + [folder], env={**os.environ, **variables}, capture_output=True, timeout=100)
    text = said.stdout.decode(errors="replace")
    sys.stderr.write(said.stderr.decode(errors="replace"))
    sys.stdout.write(text)
    assert said.returncode == 0, f"the program ended with {said.returncode}"
    numbers = dict(line.split() for line in text.splitlines() if line.strip()
                   and line.split()[0].startswith(("part_", "whole_", "dry_")))
    return {k: float(v) for k, v in numbers.items()}, said.stdout, said.stderr.decode(errors="replace")


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        events = json.load(file)
    spans = [e for e in events if e["ph"] == "X"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    for e in spans:
        assert e["dur"] >= 0 and e["args"]["device"] == e["pid"], e
    return events, spans, names


def rows(spans, pid, tid):
    return sorted((e for e in spans if e["pid"] == pid and e["tid"] == tid), key=lambda e: (e["ts"], -e["dur"]))


def check_nested(row):
    """Each span lies within the one around it; gives the outermost ones."""
    grain = 2e-3  # a nanosecond, and one of rounding
    around, outermost = [], []
    for e in row:
        while around and around[-1]["ts"] + around[-1]["dur"] <= e["ts"] + grain:
            around.pop()
        if around:
            assert e["ts"] + e["dur"] <= around[-1]["ts"] + around[-1]["dur"] + grain, (around[-1], e)
        else:
            outermost.append(e)
        around.append(e)
    return outermost


def check_file(name, pids, within):
    """What stands on a process' first row takes what the program took: between `within(pid)`, up to 2 %."""
    events, spans, names = read(name)
    assert sorted(names) == sorted(pids), (names, pids)
    for pid in pids:
        outermost = check_nested(rows(spans, pid, 0))
        sum_of_rows = sum(e["dur"] for e in outermost) * 1e-6
        least, most = within(pid)
        print(f"{name}: process {pid}: {sum_of_rows:.9f} s in rows, {least:.9f} to {most:.9f} s by the program's clock")
        assert 0.98 * least <= sum_of_rows <= 1.02 * most, (name, pid)
        for lane in {e["tid"] for e in spans if e["pid"] == pid and e["tid"] >= 1000}:
            row = rows(spans, pid, lane)
            for a, b in zip(row, row[1:]):
                assert a["ts"] + a["dur"] <= b["ts"] + 2e-3, ("two at once on a lane", a, b)
    return events, spans


numbers, out, said = run(OSTRAKA_TRACE=whole, OSTRAKA_TRACE_SUMMARY="1")
every_rank = list(range(ranks))


def clocked(part):
    return lambda pid: (numbers[f"{part}_seconds_{pid}"], numbers[f"{part}_around_seconds_{pid}"])


# A part of the program: its time by its own clock, its bytes by os::cost_of.
events, spans = check_file("part.json", every_rank, clocked("part"))
sent = {pid: sum(e["args"]["bytes"] for e in spans if e["cat"] == "message" and e["pid"] == pid) for pid in every_rank}
assert sent[0] == numbers["part_bytes"], (sent, numbers)
inside = sum(e["args"].get("bytes", 0) for e in spans if e["pid"] == 0 and e["cat"] == "operation"
             and not any(o is not e and o["cat"] == "operation" and o["pid"] == 0 and o["ts"] <= e["ts"]
                         and e["ts"] + e["dur"] <= o["ts"] + o["dur"] and o["tid"] == e["tid"] for o in spans))
assert inside == sent[0], (inside, sent)
einsums = [e for e in spans if e["pid"] == 0
           and e["name"].startswith("ostraka einsum C[I_X, K_Y] = A[I_X, J_Y] · B[J_Y, K]")]
assert len(einsums) == 5 and all(e["args"]["plan"].startswith("contract") for e in einsums), einsums
for einsum in einsums:  # its steps lie within it, and send what it sends
    steps = [e for e in spans if e["cat"] == "step" and e["pid"] == 0 and e["tid"] == einsum["tid"]
             and einsum["ts"] <= e["ts"] and e["ts"] + e["dur"] <= einsum["ts"] + einsum["dur"] + 2e-3]
    assert any(e["name"].startswith("ostraka contract") for e in steps), steps
    assert ranks == 1 or any("reduce_scatter<Y>" in e["name"] for e in steps), steps
    assert sum(e["args"].get("bytes", 0) for e in steps) == einsum["args"].get("bytes", 0), (steps, einsum)
assert any(e["cat"] == "region" and e["name"] == 'step "one"' for e in spans)
assert any(e["name"] == "program" and e["cat"] == "program" for e in spans)
if ranks > 1:
    resumed = [e for e in spans if e["args"].get("resumed") == 1 and e["pid"] == 0]
    assert len(resumed) == 5, resumed

# An exception ends a trace: each rank writes for itself, and says so. Names are UTF-8 whatever they were.
for pid in every_rank:
    events, spans, names = read("ended.json" + (f".rank{pid}" if ranks > 1 else ""))
    assert list(names) == [pid], names
    labels = [e["args"]["labels"] for e in events if e["ph"] == "M" and e["name"] == "process_labels"]
    assert labels == ["by its own clock" if ranks > 1 else "clock within 0.0 us of rank 0's"], labels
    assert [e["name"] for e in spans if e["cat"] == "region"] == ["caf\ufffd\n\0€"], spans
    assert not any(e["cat"] == "message" for e in spans), "a dry mesh sends nothing"
assert out.count(b"caf\xe9  \xe2\x82\xac\n") == 1, out

# The whole program, as the variable asks, from when MPI and Kokkos run until they are ended.
events, spans = check_file("whole.json", every_rank, clocked("whole"))
assert len([e for e in spans if e["pid"] == 0 and e["name"].startswith("ostraka einsum C[I_X, K_Y]")]) == 15
assert "in operations" in said and "step \"one\"" in said, said
if ranks > 1:  # one clock: a message of all ranks ends nowhere before it has begun everywhere
    pairs = {}
    for e in spans:
        if e["cat"] == "message" and e["name"].startswith("reduce_scatter") and e["args"]["members"] == ranks:
            pairs.setdefault(e["pid"], []).append(e)
    for together in zip(*pairs.values()):
        assert max(e["ts"] for e in together) <= min(e["ts"] + e["dur"] for e in together) + 50, together

# A machine that is not at hand: the same bytes and flops as os::cost_of says, the same time as os::time_of.
events, spans = check_file("dry.json", [0], lambda pid: (numbers["dry_seconds"], numbers["dry_seconds"]))
assert sum(e["args"]["bytes"] for e in spans if e["cat"] == "message") == numbers["dry_bytes"]
top = check_nested(rows(spans, 0, 0))
assert sum(e["args"].get("flops", 0) for e in top) == numbers["dry_flops"], numbers

# Where there is no room for all spans, the file says so, and what is there is still a trace.
numbers, _, said = run(OSTRAKA_TRACE=whole, OSTRAKA_TRACE_SPANS="20")
events, spans = check_file("whole.json", every_rank, clocked("whole"))
assert sum("were left out" in e["name"] for e in events if e["ph"] == "i") == ranks
assert "found no room" in said, said
for pid in every_rank:
    assert any(e["name"] == "not recorded" for e in spans if e["pid"] == pid)
print("traces: as they should be")
