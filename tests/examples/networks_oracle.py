# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""networks_oracle.py

Prints the constants of networks.cpp: sums of the parameters of each layer, norms of their gradients and the losses of
gradient descent, by JAX. The parameters are made in single precision and everything else is computed in double
precision. Made with JAX 0.10.2 on the CPU.
"""

import jax
import jax.numpy as jnp
import numpy as np

UNITS, BATCH, RATE, STEPS = [784, 128, 128, 128, 128, 128, 8], 32, 3e-3, 5

jax.config.update("jax_threefry_partitionable", False)
normal = jax.random.normal


def layer(key, inputs, outputs):
    of_weights, of_biases = jax.random.split(key)
    return normal(of_weights, (inputs, outputs)) / jnp.sqrt(inputs), normal(of_biases, (outputs,))


first, *keys = jax.random.split(jax.random.PRNGKey(0), len(UNITS))
layers = [layer(*each) for each in zip(keys, UNITS[:-1], UNITS[1:])]
_, of_inputs, of_targets = jax.random.split(first, 3)
made = layers, normal(of_inputs, (BATCH, UNITS[0])), normal(of_targets, (BATCH, UNITS[-1]))
layers, x, targets = jax.tree.map(lambda a: np.asarray(a, np.float64), made)

jax.config.update("jax_enable_x64", True)


def loss(layers):
    h = x
    for W, b in layers[:-1]:
        h = jax.nn.relu(h @ W + b)
    W, b = layers[-1]
    return jnp.mean(jnp.sum((h @ W + b - targets) ** 2, axis=1))


print("sums", [[float(np.sum(a)) for a in pair] for pair in layers])
losses = []
for step in range(STEPS + 1):
    value, gradient = jax.value_and_grad(loss)(layers)
    losses.append(float(value))
    if step == 0:
        print("norms", [[float(jnp.linalg.norm(a)) for a in pair] for pair in gradient])
    layers = jax.tree.map(lambda w, g: w - RATE * g, layers, gradient)
print("losses", losses)
