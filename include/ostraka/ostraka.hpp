// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Everything: named-axis sharded tensors. `namespace os = ostraka;` is yours to write.

#include <ostraka/types/support/language.hpp>

#include <ostraka/types/reasons/of_shardings.hpp>  // first: an error then names its file and yours, and no chain of includes
#include <ostraka/types/reasons/of_products.hpp>
#include <ostraka/types/reasons/of_other_operations.hpp>
#include <ostraka/types/reasons/of_the_local_view.hpp>
#include <ostraka/types/reasons/of_the_vocabulary.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>
#include <ostraka/types/reasons/of_arrays.hpp>

#include <ostraka/all_gather.hpp>
#include <ostraka/all_reduce.hpp>
#include <ostraka/all_to_all.hpp>
#include <ostraka/arithmetic.hpp>
#include <ostraka/cast.hpp>
#include <ostraka/check_replicas.hpp>
#include <ostraka/comparison.hpp>
#include <ostraka/contract.hpp>
#include <ostraka/copy.hpp>
#include <ostraka/copy_local.hpp>
#include <ostraka/describe.hpp>
#include <ostraka/describe_environment.hpp>
#include <ostraka/einsum.hpp>
#include <ostraka/einsum_into.hpp>
#include <ostraka/environment.hpp>
#include <ostraka/from_local.hpp>
#include <ostraka/full.hpp>
#include <ostraka/gather_to_root.hpp>
#include <ostraka/holds_first_copy.hpp>
#include <ostraka/generate.hpp>
#include <ostraka/into_array.hpp>
#include <ostraka/make_mesh.hpp>
#include <ostraka/map.hpp>
#include <ostraka/map_into.hpp>
#include <ostraka/mesh.hpp>
#include <ostraka/named.hpp>
#include <ostraka/operators.hpp>
#include <ostraka/pending.hpp>
#include <ostraka/pipeline.hpp>
#include <ostraka/pipeline_loss.hpp>
#include <ostraka/plan.hpp>
#include <ostraka/random.hpp>
#include <ostraka/reduce_scatter.hpp>
#include <ostraka/reductions.hpp>
#include <ostraka/relabel.hpp>
#include <ostraka/rename.hpp>
#include <ostraka/reshard.hpp>
#include <ostraka/reshard_into.hpp>
#include <ostraka/reshard_meshes.hpp>
#include <ostraka/rules.hpp>
#include <ostraka/scatter_from_root.hpp>
#include <ostraka/shard_map.hpp>
#include <ostraka/slice.hpp>
#include <ostraka/start.hpp>
#include <ostraka/strided.hpp>
#include <ostraka/tensor.hpp>
#include <ostraka/value.hpp>
#include <ostraka/version.hpp>
#include <ostraka/where.hpp>
#include <ostraka/with_instance.hpp>
#include <ostraka/zeros.hpp>

#ifdef OSTRAKA_COMPILED
#include <ostraka/compiled.hpp>
#endif
