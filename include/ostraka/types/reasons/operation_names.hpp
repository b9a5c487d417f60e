// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Names of operations, as reasons print them: `partial_in_nonlinear_operation<X_mesh, operation::map>`.

namespace ostraka::operation {

struct add;
struct all;
template <class... Ms>
struct all_gather;
template <class... Ms>
struct all_reduce;
template <class... Dims>
struct all_to_all;
struct any;
struct bit_and;
struct bit_or;
template <class To>
struct cast;
struct check_replicas;
template <class Slots>
struct collect;
struct copy_from_blocks;
struct copy_to_blocks;
template <class Slots>
struct dispatch;
struct divide;
struct equal;
struct full;
struct gather_cotangents;
struct gather_to_root;
struct generate;
struct global_norm;
struct greater;
struct greater_equal;
struct less;
struct less_equal;
struct load;
struct logical_and;
struct logical_not;
struct logical_or;
struct map;
struct max;
struct maximum;
template <class Out>
struct mean;
struct min;
struct minimum;
struct multiply;
struct negate;
struct not_equal;
struct ones;
struct plan_blocks;
struct prod;
template <class R, class E, bool SumsRows>
struct ragged_product;
struct random;
template <class Dim>
struct reduce_scatter;
template <class To>
struct reshard;
template <class To>
struct reshard_to_mesh;
template <class R, class Routes>
struct return_rows;
struct save;
struct scale;
struct scatter_from_root;
template <class R, class Routes>
struct send_rows;
template <class Dim>
struct slice;
struct subtract;
struct sum;
struct update;
struct value;
struct where;

}  // namespace ostraka::operation
