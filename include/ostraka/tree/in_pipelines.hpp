// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Trees as parameters of os::pipeline. Their leaves are blocks in the body, each layer's part of them is a
/// tree of the same struct, and `layer(h, w)` is called with it.

#include <type_traits>
#include <utility>

#include <ostraka/local_view/pipelines/pipeline_operands.hpp>
#include <ostraka/tree/tree_map.hpp>

namespace ostraka::detail {

template <Tree W>
struct pipeline_operand<W> {
  static constexpr bool is_one = true;
  using shape = shape_of<W>;
  using leaves = typename leaf_list<shape, W>::type;

  // F names the leaf policy of the result if it is not that of the tree: `typename F::leaves<Inner>`.
  template <class F>
  static auto map(F const& f, W const& w) {
    auto const call = [&](path const&, auto const& leaf) { return f(leaf); };
    if constexpr (requires { typename F::template leaves<leaves_in<W>>; })
      return make_node<shape, tree_with<W, typename F::template leaves<leaves_in<W>>>>(call, path{}, w);
    else
      return make_node<shape, W>(call, path{}, w);
  }
  template <class F, class... Others>
  static void visit(F const& f, W const& w, Others const&... others) {
    auto const call = [&](path const&, auto const&... leaves) { f(leaves...); };
    detail::visit<shape>(call, path{}, w, others...);
  }
};

}  // namespace ostraka::detail
