// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The vocabulary of bodies of os::shard_map: blocks, collectives, halos, and pipelines. ostraka.hpp includes
/// this header; include it alone in a header that takes blocks and makes no tensors.

#include <ostraka/types/support/language.hpp>

#include <ostraka/local_view/axis_index.hpp>
#include <ostraka/local_view/collectives/all_gather_blocks.hpp>
#include <ostraka/local_view/collectives/all_to_all_blocks.hpp>
#include <ostraka/local_view/collectives/gather_and_scatter.hpp>
#include <ostraka/local_view/collectives/pargmax.hpp>
#include <ostraka/local_view/collectives/pbroadcast.hpp>
#include <ostraka/local_view/collectives/ppermute.hpp>
#include <ostraka/local_view/collectives/preduce.hpp>
#include <ostraka/local_view/collectives/psum.hpp>
#include <ostraka/local_view/collectives/psum_scatter.hpp>
#include <ostraka/local_view/collectives/ragged_all_to_all.hpp>
#include <ostraka/local_view/collectives/scans.hpp>
#include <ostraka/local_view/halos/adopt_ghosted.hpp>
#include <ostraka/local_view/halos/exchange_halo.hpp>
#include <ostraka/local_view/part.hpp>
#include <ostraka/local_view/pipelines/pipeline.hpp>
#include <ostraka/local_view/pipelines/pipeline_loss.hpp>
#include <ostraka/local_view/points/for_each_point.hpp>
#include <ostraka/local_view/points/own.hpp>
#include <ostraka/local_view/points/patches.hpp>
#include <ostraka/local_view/points/stencil.hpp>
#include <ostraka/local_view/pvary.hpp>
#include <ostraka/local_view/shard_map.hpp>
