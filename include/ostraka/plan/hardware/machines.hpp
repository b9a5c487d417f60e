// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Machines by name, with the peaks that their makers publish. Programs come near these peaks but never exceed
/// them. bench/calibrate measures the machine on which it runs. None of these numbers is fitted.
///
/// A device is a chip of a TPU or a GPU, or a node of a cluster of CPUs. The fast links connect devices along every
/// mesh axis that is not named here. The slow network connects the nodes of a mesh that has nodes, and devices along a
/// mesh axis to which a program gives its links:
///
///     constexpr auto m = machines::h100.with("X", machines::h100_network);   // X between nodes, the rest NVLink
///
/// Sources. TPUs: Google Cloud's pages for v5p, v5e and v6e (flops, memory, the network's bits per second of a host
/// divided by its chips; 10 µs per message are assumed). float32 is multiplied in one pass of bfloat16, XLA's default.
/// Links carry 9·10¹⁰ and 4.5·10¹⁰ bytes per second one way, and a hop takes 1 µs: "How to Scale Your Model" (Austin et
/// al., 2025), chapters on TPUs and on sharding. The chapter on TPUs also says which axes wrap: slices of v5e and v6e
/// are smaller tori "without wraps on dims < 16". On v5p and similar TPUs, optical switches close slices that consist
/// of whole cubes of 4 × 4 × 4, so an axis is a ring if its length is a multiple of 4. Other slices (2 × 2 × 1, 2 × 2 ×
/// 4) have no rings: write that as `.with("X", line)`. H100: NVIDIA's data sheet of the SXM module (without sparsity,
/// float32 without TF32). NVLink 4 is 900 GB/s, both ways together; a node's eight GPUs have a 400 Gb/s adapter each;
/// hops are the ring's latencies in NCCL's tuning model, 0.6 µs over NVLink, 2.7 µs over the network. The CPU cluster:
/// a node of two AMD EPYC 7763, 64 cores of 2.45 GHz with two 256-bit fused multiply-adds per cycle, eight channels of
/// DDR4-3200 each, one Slingshot adapter of 200 Gb/s, some 2 µs per message (De Sensi et al., "An In-Depth Analysis of
/// the Slingshot Interconnect", 2020).

#include <ostraka/plan/hardware/machine_data.hpp>

namespace ostraka::planner::machines {

inline constexpr link tpu_v5p_network{6.25e9, 1e-5, link_shape::switched, true};

/// TPU v5p: a three-dimensional torus, at most a slice, which counts as a node. Axes of whole cubes wrap: 4, 8, 12, …
inline constexpr machine tpu_v5p{
    .name = "tpu_v5p",
    .flops_per_second = {0, 4.59e14, 4.59e14, 9.18e14},
    .memory_bytes_per_second = 2.765e12,
    .memory_bytes = 95.0 * (1 << 30),
    .links = {.bytes_per_second = 9e10, .hop_seconds = 1e-6, .shape = link_shape::ring, .wraps_from = 4},
    .between_nodes = tpu_v5p_network};

inline constexpr link tpu_v5e_network{3.125e9, 1e-5, link_shape::switched, true};

/// TPU v5e: a two-dimensional torus, at most 16 by 16; a shorter axis does not wrap.
inline constexpr machine tpu_v5e{
    .name = "tpu_v5e",
    .flops_per_second = {0, 1.97e14, 1.97e14, 3.93e14},
    .memory_bytes_per_second = 8.0e11,
    .memory_bytes = 16e9,
    .links = {.bytes_per_second = 4.5e10, .hop_seconds = 1e-6, .shape = link_shape::ring, .wraps_from = 16},
    .between_nodes = tpu_v5e_network};

inline constexpr link trillium_network{1.25e10, 1e-5, link_shape::switched, true};

/// Trillium, TPU v6e: a torus like that of v5e.
inline constexpr machine trillium{
    .name = "trillium",
    .flops_per_second = {0, 9.18e14, 9.18e14, 1.836e15},
    .memory_bytes_per_second = 1.6e12,
    .memory_bytes = 32e9,
    .links = {.bytes_per_second = 9e10, .hop_seconds = 1e-6, .shape = link_shape::ring, .wraps_from = 16},
    .between_nodes = trillium_network};

inline constexpr link h100_network{5e10, 2.7e-6, link_shape::switched, true};

/// H100 SXM: eight GPUs on the switches of a node, and InfiniBand between nodes.
inline constexpr machine h100{.name = "h100",
                              .flops_per_second = {6.7e13, 6.7e13, 9.895e14, 1.979e15},
                              .memory_bytes_per_second = 3.35e12,
                              .memory_bytes = 80e9,
                              .links = {4.5e11, 6e-7, link_shape::switched, true},
                              .between_nodes = h100_network};

/// A cluster of CPUs; each node is a device.
inline constexpr machine cpu_cluster{.name = "cpu_cluster",
                                     .flops_per_second = {5.0176e12, 1.00352e13, 1.00352e13, 1.00352e13},
                                     .memory_bytes_per_second = 4.096e11,
                                     .memory_bytes = 256e9,
                                     .links = {2.5e10, 2e-6, link_shape::switched, true}};

inline constexpr machine all[] = {tpu_v5p, tpu_v5e, trillium, h100, cpu_cluster};

}  // namespace ostraka::planner::machines
