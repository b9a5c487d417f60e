// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A layer of a transformer under any mixture of parallelisms, as moves and products that the planner plans.
/// This file contains no formulas of strategies: it states shardings, and their plans determine the moves and the
/// computation. Mesh axes are D (data), Z (fully sharded), T (tensor), C (context), E (expert):
///
///     tokens[B_DZE, e, c_C, d_T] → [B_DZ, e_E, c_C, d_T] → [B_DZ, e_E, c_C, d]       to their experts; gathered
///     up[e_E, d_Z, f_T] → [e_E, d, f_T]                                            gathered
///     hidden[B_DZ, e_E, c_C, f_T] = tokens · up                                      moves nothing
///     [B_DZ, e_E, c_C, d] {U_T} = hidden · down[e_E, f_T, d]                         moves nothing; scattered; back
///
/// c are the positions that go to one expert: length · active / experts. Without experts e has extent 1.

#include <initializer_list>

#include <ostraka/plan/parallelism/intensity.hpp>

namespace ostraka::planner {

/// Forward and backward of a sublayer.
struct sublayer_traffic {
  layer_traffic forward;
  layer_traffic backward;
};

namespace detail {

/// The mesh axes and extents of a layer. Moves and products of its tensors add up in `done_`.
class parallel_layer {
 public:
  constexpr parallel_layer(transformer_shape const& m, token_batch const& b, parallel_ways const& ways)
      : shape_(m), batch_(b), ways_(ways) {
    for (int p = 0; p < parallelisms; ++p) {
      auto const kind = static_cast<parallelism>(p);
      axis_of_[p] = kind != parallelism::pipeline && ways.of(kind) > 1 ? sizes_.mesh_axes : -1;
      if (axis_of_[p] >= 0) sizes_.mesh[sizes_.mesh_axes++] = ways.of(kind);
    }
  }

  constexpr sublayer_traffic feed_forward() {
    set_extents({batch_.sequences, shape_.experts, batch_.length * shape_.active / shape_.experts, shape_.width,
                 shape_.inner});
    enum { b, e, c, d, f };
    auto const data = over({parallelism::data, parallelism::fully_sharded});
    auto const home = over({parallelism::data, parallelism::fully_sharded, parallelism::expert});
    auto const stored = over({parallelism::fully_sharded});
    auto const tensor = over({parallelism::tensor});
    auto const expert = over({parallelism::expert});
    auto const context = over({parallelism::context});
    spec const tokens = of({{b, home}, {e, {}}, {c, context}, {d, tensor}});
    spec const sent = of({{b, data}, {e, expert}, {c, context}, {d, tensor}});
    spec const whole = of({{b, data}, {e, expert}, {c, context}, {d, {}}});
    spec const hidden = of({{b, data}, {e, expert}, {c, context}, {f, tensor}});
    spec const up = of({{e, expert}, {d, {}}, {f, tensor}});
    spec const down = of({{e, expert}, {f, tensor}, {d, {}}});
    spec const up_stored = of({{e, expert}, {d, stored}, {f, tensor}});
    spec const down_stored = of({{e, expert}, {f, tensor}, {d, stored}});

    sublayer_traffic t{layer_traffic(ways_, axis_of_), layer_traffic(ways_, axis_of_)};
    done_ = &t.forward;
    move(tokens, sent);
    move(sent, whole);
    for (int k = 0; k < shape_.up_products; ++k) {
      move(up_stored, up);
      multiply(whole, up, hidden);
    }
    move(down_stored, down);
    multiply(hidden, down, summands(whole, tensor));
    move(summands(whole, tensor), sent);
    move(sent, tokens);

    done_ = &t.backward;
    move(tokens, sent);  // the gradient of the tensor that went back
    move(sent, whole);
    move(down_stored, down);
    multiply(whole, down, hidden);
    mesh_set const tokens_over = data.axes() | context.axes();
    reduce(hidden, whole, down, down_stored, tokens_over);
    for (int k = 0; k < shape_.up_products; ++k) {
      move(up_stored, up);
      multiply(hidden, up, summands(whole, tensor));
      reduce(whole, hidden, up, up_stored, tokens_over);
    }
    move(summands(whole, tensor), sent);
    move(sent, tokens);
    return t;
  }

  /// The traffic of attention: scores and weighted values, each position with all others within the window, before and
  /// after it, without projections.
  constexpr sublayer_traffic attention() {
    multiplied_ = multiplied_share(shape_, batch_, false);
    std::int64_t const groups = shape_.heads_of_keys();
    set_extents({batch_.sequences, batch_.length, batch_.length, groups, shape_.heads / groups, shape_.head_width});
    enum { b, s, t, g, r, w };
    auto const home = over({parallelism::data, parallelism::fully_sharded, parallelism::expert});
    auto const heads = over({parallelism::tensor});
    auto const context = over({parallelism::context});
    spec const queries = of({{b, home}, {s, context}, {g, heads}, {r, {}}, {w, {}}});
    spec const keys = of({{b, home}, {t, context}, {g, heads}, {w, {}}});
    spec const all_keys = of({{b, home}, {t, {}}, {g, heads}, {w, {}}});
    spec const scores = of({{b, home}, {g, heads}, {r, {}}, {s, context}, {t, {}}});

    sublayer_traffic done{layer_traffic(ways_, axis_of_), layer_traffic(ways_, axis_of_)};
    done_ = &done.forward;
    for (int k = 0; k < 2; ++k) move(keys, all_keys);  // and values
    multiply(queries, all_keys, scores);
    multiply(scores, all_keys, queries);

    done_ = &done.backward;  // keys and values are kept
    multiply(queries, all_keys, scores);  // the gradient of the weights
    multiply(scores, all_keys, queries);
    for (int k = 0; k < 2; ++k) reduce(scores, queries, all_keys, keys, context.axes());
    return done;
  }

 private:
  struct dimension {
    int label;
    mesh_order over;
  };

  constexpr void set_extents(std::initializer_list<std::int64_t> extents_of_labels) {
    sizes_.labels = 0;
    for (std::int64_t n : extents_of_labels) sizes_.label[sizes_.labels++] = n;
  }

  [[nodiscard]] constexpr mesh_order over(std::initializer_list<parallelism> kinds) const {
    mesh_order o;
    for (parallelism p : kinds)
      if (axis_of_[static_cast<int>(p)] >= 0) o.push_back(axis_of_[static_cast<int>(p)]);
    return o;
  }

  static constexpr spec of(std::initializer_list<dimension> dimensions) {
    spec s;
    for (dimension const& d : dimensions) s.push_back(d.label, d.over);
    return s;
  }

  static constexpr spec summands(spec s, mesh_order along) {
    s.partial = along.axes();
    return s;
  }

  constexpr void move(spec const& from, spec const& to) {
    if (!(from == to))
      done_->add_moves(plan_reshard(from, to, sizes_, the_result, slicing::at_once), sizes_, shape_.element_bytes);
  }

  constexpr void multiply(spec const& left, spec const& right, spec const& result) {
    einsum_problem p;
    p.operands.push_back(left);
    p.operands.push_back(right);
    p.result = result;
    p.sizes = sizes_;
    done_->add(plan_einsum(p), sizes_, shape_.element_bytes, multiplied_);
  }

  // Computes and sums the gradient of a tensor with sharding `used` in products and sharding `stored` in memory, to the
  // sharding `stored`.
  constexpr void reduce(spec const& left, spec const& right, spec const& used, spec const& stored, mesh_set along) {
    spec parts = used;
    parts.partial = along;
    multiply(left, right, parts);
    move(parts, stored);
  }

  transformer_shape shape_;
  token_batch batch_;
  parallel_ways ways_;
  extents sizes_;
  int axis_of_[parallelisms]{};
  layer_traffic* done_ = nullptr;
  double multiplied_ = 1;  // the share of the products that are computed
};

}  // namespace detail

/// The traffic of the feed-forward sublayer.
/// @pre sizes pass question_checks.hpp; experts divide length · active
[[nodiscard]] constexpr sublayer_traffic feed_forward_traffic(transformer_shape const& m, token_batch const& b,
                                                              parallel_ways const& ways) {
  return detail::parallel_layer(m, b, ways).feed_forward();
}

/// The traffic of attention: scores and weighted values, without its projections.
[[nodiscard]] constexpr sublayer_traffic attention_traffic(transformer_shape const& m, token_batch const& b,
                                                           parallel_ways const& ways) {
  return detail::parallel_layer(m, b, ways).attention();
}

}  // namespace ostraka::planner
