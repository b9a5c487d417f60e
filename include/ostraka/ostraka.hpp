// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Named-axis sharded tensors, the header of every program: meshes, tensors and their creation, arithmetic,
/// moves, einsum and reductions, bodies of os::shard_map. The vocabulary, derivatives, optimisers, experts and files
/// have headers beside this one. Programs define the short name themselves: `namespace os = ostraka;`.

#include <ostraka/types/support/language.hpp>

#include <ostraka/types/reasons/of_shardings.hpp>  // first: errors then name no chain of includes
#include <ostraka/types/reasons/of_products.hpp>
#include <ostraka/types/reasons/of_other_operations.hpp>
#include <ostraka/types/reasons/of_the_local_view.hpp>
#include <ostraka/types/reasons/of_the_vocabulary.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>
#include <ostraka/types/reasons/of_arrays.hpp>

#include <ostraka/plan.hpp>
#include <ostraka/version.hpp>

#include <ostraka/environment/environment.hpp>
#include <ostraka/environment/with_instance.hpp>

#include <ostraka/meshes/make_mesh.hpp>
#include <ostraka/meshes/mesh.hpp>

#include <ostraka/tensors/rules.hpp>
#include <ostraka/tensors/tensor.hpp>

#include <ostraka/creation/copy.hpp>
#include <ostraka/creation/full.hpp>
#include <ostraka/creation/generate.hpp>
#include <ostraka/creation/named.hpp>
#include <ostraka/creation/random.hpp>
#include <ostraka/creation/zeros.hpp>

#include <ostraka/arrays/copy_local.hpp>
#include <ostraka/arrays/from_local.hpp>
#include <ostraka/arrays/gather_to_root.hpp>
#include <ostraka/arrays/holds_first_copy.hpp>
#include <ostraka/arrays/scatter_from_root.hpp>
#include <ostraka/arrays/strided.hpp>
#include <ostraka/arrays/value.hpp>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/comparison.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/elements/map_into.hpp>
#include <ostraka/elements/operators.hpp>
#include <ostraka/elements/where.hpp>

#include <ostraka/moves/all_gather.hpp>
#include <ostraka/moves/all_reduce.hpp>
#include <ostraka/moves/all_to_all.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/moves/reduce_scatter.hpp>
#include <ostraka/moves/rename.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/moves/reshard_into.hpp>
#include <ostraka/moves/reshard_meshes.hpp>
#include <ostraka/moves/slice.hpp>

#include <ostraka/algebra/contract.hpp>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/algebra/into_array.hpp>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/algebra/relabel.hpp>
#include <ostraka/algebra/start.hpp>

#include <ostraka/local_view.hpp>

#include <ostraka/foresight/bytes_of.hpp>

#include <ostraka/seeing/check_replicas.hpp>
#include <ostraka/seeing/describe.hpp>
#include <ostraka/seeing/describe_environment.hpp>
#include <ostraka/seeing/print_blocks.hpp>

#ifdef OSTRAKA_COMPILED
#include <ostraka/compiled/compiled_engine.hpp>
#endif
