// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Collectives of GPUs' memory over NCCL or RCCL, compiled with their own headers for the legs cuda and hip: nothing
/// runs.

#include <cstdint>

#include <ostraka/engine/collectives/scan.hpp>
#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/levels/levelled_reduce.hpp>
#include <ostraka/engine/levels/levelled_scatter.hpp>

using namespace ostraka::engine;

using gpu = Kokkos::DefaultExecutionSpace;
using arrays = arrays_of<gpu>;

static_assert(CarriesInOrder<carrier::group, gpu>);

template class ostraka::engine::levelled_all_gather<float, arrays>;
template class ostraka::engine::levelled_all_reduce<ostraka::bfloat16, arrays>;
template class ostraka::engine::levelled_reduce_scatter<double, arrays>;
template class ostraka::engine::broadcast_in_flight<std::int32_t, arrays>;
template void ostraka::engine::scan(communicator const&, arrays&, double*, std::int64_t, reduction, scan_kind,
                                    scan_order);
