#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/decoding beside PyTorch on the same cores, in turns: tokens per second of prefill and decoding, a decoder of 4
layers, 512 wide.

    decoding.py --program build/bench/decoding --python VENV/bin/python [--weights f32 bf16] [--ranks 1] [--batch 1 16]
    [--rounds 5]

PyTorch runs two programs, and the faster of the two counts for each figure: LlamaForCausalLM of transformers with its
cache, and the same model in plain functions with a cache that is allocated once, fused attention and fused norms. Both
compute the logits of the last token alone. Ours has as many ranks of one thread as PyTorch has threads. A model of bf16
has parameters, activations and caches of bf16. Each round gives a ratio of ours to PyTorch's; the figure is the median
of these ratios, with the spread.
"""
import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time

now = time.perf_counter  # or time.process_time

LAYERS, WIDTH, HEADS, HEAD, INNER, VOCABULARY = 4, 512, 8, 64, 1408, 32000


def measured(prefill, step, batch, prompt, tokens, rounds=3):
    taken = []
    for _ in range(rounds + 1):
        begin = now()
        state = prefill()
        middle = now()
        for i in range(tokens):
            state = step(state, prompt + i)
        taken.append((middle - begin, now() - middle))
    first, others = (statistics.median(t[i] for t in taken[1:]) for i in (0, 1))
    return {"prefill": batch * prompt / first, "decode": batch * tokens / others}


def with_transformers(torch, dtype, ids, batch, prompt, tokens):
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                         num_key_value_heads=HEADS,
                                         intermediate_size=INNER, vocab_size=VOCABULARY)).to(dtype).eval()

    def prefill():
        cache = DynamicCache()
        out = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1:].argmax(-1), cache

    def step(state, _):
        out = model(state[0], past_key_values=state[1], use_cache=True, logits_to_keep=1)
        return out.logits[:, -1:].argmax(-1), state[1]

    return measured(prefill, step, batch, prompt, tokens)


def by_functions(torch, dtype, ids, batch, prompt, tokens):
    from torch.nn import functional as F
    def random(*shape):
        return (torch.randn(shape) / shape[-1] ** 0.5).to(dtype)
    layers = [dict(qkv=random(3 * WIDTH, WIDTH), out=random(WIDTH, WIDTH), gate_up=random(2 * INNER, WIDTH),
                   down=random(WIDTH, INNER),
                   norms=torch.ones(2, WIDTH, dtype=dtype)) for _ in range(LAYERS)]
    table, head, norm = random(VOCABULARY, WIDTH), random(VOCABULARY, WIDTH), torch.ones(WIDTH, dtype=dtype)
    room = prompt + tokens + 1
    caches = [torch.zeros(2, batch, HEADS, room, HEAD, dtype=dtype) for _ in range(LAYERS)]
    angles = torch.arange(room)[:, None] * 10000.0 ** (-torch.arange(HEAD // 2)[None, :] / (HEAD // 2))
    cosine, sine = angles.cos().to(dtype), angles.sin().to(dtype)

    def turned(x, begin, end):
        a, b = x[..., :HEAD // 2], x[..., HEAD // 2:]
        c, s = cosine[begin:end], sine[begin:end]
        return torch.cat((a * c - b * s, b * c + a * s), -1)

    def forward(tokens_, begin):
        x = F.embedding(tokens_, table)
        count = x.shape[1]
        end = begin + count
        for p, cache in zip(layers, caches):
            q, k, v = F.linear(F.rms_norm(x, (WIDTH,), p["norms"][0]),
                               p["qkv"]).view(batch, count, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
            cache[0, :, :, begin:end] = turned(k, begin, end)
            cache[1, :, :, begin:end] = v
            o = F.scaled_dot_product_attention(turned(q, begin, end), cache[0, :, :, :end], cache[1, :, :, :end],
                                               is_causal=count > 1)
            x = x + F.linear(o.transpose(1, 2).reshape(batch, count, WIDTH), p["out"])
            gate, up = F.linear(F.rms_norm(x, (WIDTH,), p["norms"][1]), p["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, p["down"])
        return F.linear(F.rms_norm(x[:, -1:], (WIDTH,), norm), head).argmax(-1)

    return measured(lambda: forward(ids, 0), forward, batch, prompt, tokens)


def pytorch(arguments):
    import torch
    torch.set_num_threads(arguments.ranks)
    global now
    now = time.process_time if arguments.cpu else now
    batch, prompt, tokens = arguments.batch[0], arguments.prompt, arguments.tokens
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[arguments.weights[0]]
    with torch.inference_mode():
        ids = torch.randint(0, VOCABULARY, (batch, prompt))
        found = {"functions": by_functions(torch, dtype, ids, batch, prompt, tokens)}
        try:
            found["transformers"] = with_transformers(torch, dtype, ids, batch, prompt, tokens)
        except ImportError:
            pass
    print(json.dumps(found))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program")
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--mpirun", default="mpirun")
    options.add_argument("--weights", choices=["f32", "bf16"], nargs="+", default=["f32"])
    options.add_argument("--ranks", type=int, default=1)
    options.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    options.add_argument("--prompt", type=int, default=128)
    options.add_argument("--tokens", type=int, default=64)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--cpu", action="store_true",
                         help="seconds of the processes' CPU, for one rank on a machine with other jobs")
    options.add_argument("--pytorch", action="store_true", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.pytorch:
        return pytorch(arguments)
    print(f"prompts of {arguments.prompt} tokens, {arguments.tokens} decoded, {arguments.ranks} rank(s) or thread(s), "
          f"tokens/s, median of {arguments.rounds} rounds")
    print("| weights | batch | | ours | PyTorch, functions | transformers | ours / the faster |")
    for weights, batch in itertools.product(arguments.weights, arguments.batch):
        extents = [f"weights={weights}", f"batch={batch}", f"prompt={arguments.prompt}", f"tokens={arguments.tokens}",
                   f"cpu={int(arguments.cpu)}"]
        launcher = [arguments.mpirun, "-n", str(arguments.ranks)] if arguments.ranks > 1 else []
        ours = launcher + [arguments.program] + extents
        theirs = [arguments.python, __file__, "--pytorch", "--weights", weights, "--batch", str(batch), "--prompt",
                  str(arguments.prompt),
                  "--tokens", str(arguments.tokens), "--ranks", str(arguments.ranks)] + ["--cpu"] * arguments.cpu
        rounds = [(run(ours), run(theirs)) for _ in range(arguments.rounds)]
        for part in ("prefill", "decode"):
            ratios = [us[part] / max(them[way][part] for way in them) for us, them in rounds]
            of = lambda way: (statistics.median(them[way][part] for _, them in rounds if way in them)
                              if way in rounds[0][1] else float("nan"))
            print(f"| {weights} | {batch} | {part} | {statistics.median(us[part] for us, _ in rounds):.0f} | "
                  f"{of('functions'):.0f} | {of('transformers'):.0f} | "
                  f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |", flush=True)


if __name__ == "__main__":
    main()
