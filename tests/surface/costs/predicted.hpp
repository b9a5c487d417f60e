// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Compares what an operation says that it moves and computes with what a dry mesh counts that schedules the same
/// operation: all its devices together send that, to the byte, and the device that has most computes that. On meshes of
/// one to six devices, for extents from 0 to 5, even and uneven.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

template <auto... Dims>
using doubles = ostraka::tensor<double, Dims...>;
template <auto... Dims>
using to = ostraka::sharding_of<Dims...>;
template <auto Dim>
using named_dim = ostraka::detail::type_of<Dim>;

/// The least extents of I and J that an operation takes; with less it may be refused.
struct least_extents {
  std::int64_t i = 0, j = 0;
};

/// The costs of a call on all devices of a mesh, and what it says that they are.
struct costs_of_devices {
  std::int64_t devices = 0, sent = 0, flops = 0, predicted = 0, predicted_flops = -1;
  bool is_predicted_alike = true;

  /// Counts one more device. `call` has `prepares()`, `does()`, which prepares, too, `bytes()` and `flops()`, −1 if it
  /// does not say them.
  template <class Mesh, class Call>
  void count(Mesh const& mesh, Call const& call) {
    auto const prepared = ostraka::cost_of(mesh, [&] { call.prepares(); });
    auto const all = ostraka::cost_of(mesh, [&] { call.does(); });
    std::int64_t const bytes = call.bytes();
    is_predicted_alike = is_predicted_alike && (devices == 0 || bytes == predicted);
    predicted = bytes;
    predicted_flops = call.flops();
    sent += all.bytes - prepared.bytes;
    flops = std::max(flops, all.flops - prepared.flops);
    ++devices;
  }
};

/// make_call(mesh, extents) makes a call, on meshes and extents of all kinds.
template <class F>
void on_dry_meshes(least_extents const& least, F const& make_call) {
  for (std::int64_t const x : {1, 2, 3})
    for (std::int64_t const y : {1, 2})
      for (std::int64_t const i : {0, 1, 2, 3, 5})
        for (std::int64_t const j : {0, 1, 2, 3, 4}) {
          if (i < least.i || j < least.j) continue;
          CAPTURE(x);
          CAPTURE(y);
          CAPTURE(i);
          CAPTURE(j);
          costs_of_devices costs;
          for (std::int64_t d = 0; d < x * y; ++d) {
            auto const mesh = ostraka::dry_mesh(ostraka::as_device(d), X = x, Y = y);
            costs.count(mesh, make_call(mesh, ostraka::sizes(I = i, J = j, K = 3, L = 6, B = 2)));
          }
          CHECK(costs.is_predicted_alike);
          CHECK(costs.predicted == (costs.sent + x * y - 1) / (x * y));
          if (costs.predicted_flops >= 0) CHECK(costs.predicted_flops == costs.flops);
        }
}

/// The flops that an operation says, by its types or of the call.
template <class Operation, class... Given>
std::int64_t flops_of(Operation const& operation, Given const&... given) {
  if constexpr (ostraka::detail::has_moves<Operation, Given...>()) {
    std::int64_t const by_types = Operation::template moves<Given...>::flops(
        ostraka::detail::sizes_of_call(given..., ostraka::detail::extent_made_by(operation)));
    if constexpr (requires { operation.flops_of_call(by_types, given...); })
      return operation.flops_of_call(by_types, given...);
    else
      return by_types;
  } else {
    return operation.moved(given...).flops;
  }
}

/// An operation on operands of these types. `ByTypes`: not by a number that it holds.
template <bool ByTypes, class Operation, class... Given>
struct call {
  Operation operation;
  std::tuple<Given...> given;

  void prepares() const {}
  void does() const {
    std::apply([&](auto const&... g) { static_cast<void>(ostraka::detail::operate(operation, g...)); }, given);
  }
  [[nodiscard]] std::int64_t bytes() const {
    static_assert(ostraka::detail::has_moves<Operation, Given...>() == ByTypes, "it says its price by types");
    return std::apply([&](auto const&... g) { return ostraka::bytes_of(operation, g...); }, given);
  }
  [[nodiscard]] std::int64_t flops() const {
    return std::apply([&](auto const&... g) { return flops_of(operation, g...); }, given);
  }
};

template <bool ByTypes = true, class Operation, class... Operands, class... More>
void moves_what_it_says(least_extents const& least, Operation const& operation, ostraka::type_list<Operands...>,
                        More const&... more) {
  on_dry_meshes(least, [&](auto const& mesh, auto const& sizes) {
    return call<ByTypes, Operation, Operands..., More...>{operation,
                                                          {ostraka::zeros<Operands>(mesh, sizes)..., more...}};
  });
}
template <bool ByTypes = true, class Operation, class... Operands, class... More>
void moves_what_it_says(Operation const& operation, ostraka::type_list<Operands...> operands, More const&... more) {
  moves_what_it_says<ByTypes>(least_extents{}, operation, operands, more...);
}

struct block_itself {
  template <class Block>
  Block operator()(Block const& block) const {
    return block;
  }
};
struct sums_of_rows {
  template <class Block>
  auto operator()(Block const& block) const {
    return ostraka::einsum<J>(block);
  }
};

/// A collective of devices' blocks in a body, on the operand that `Make` makes of a block, and what goes along with it.
template <bool ByTypes, class Make, auto DimI, auto DimJ, class Tensor, class Collective, class... More>
struct call_in_a_body {
  Collective collective;
  Tensor a;
  std::tuple<More...> more;

  template <class F>
  void in_a_body(F const& f) const {
    static_cast<void>(ostraka::shard_map<DimI, DimJ>(
        [&](auto const& block) {
          std::apply([&](auto const&... m) { f(Make{}(block), m...); }, more);
          return block;
        },
        a));
  }
  void prepares() const {
    in_a_body([](auto const&...) {});
  }
  void does() const {
    in_a_body([this](auto const&... given) { static_cast<void>(ostraka::detail::operate(collective, given...)); });
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t said = 0;
    in_a_body([&]<class... Given>(Given const&... given) {
      static_assert(ostraka::detail::has_moves<Collective, Given...>() == ByTypes, "it says its price by types");
      said = ostraka::bytes_of(collective, given...);
    });
    return said;
  }
  [[nodiscard]] std::int64_t flops() const { return -1; }
};

template <bool ByTypes, class Make, auto DimI, auto DimJ, class Collective, class... More>
void collective_moves_what_it_says(least_extents const& least, Collective const& collective, More const&... more) {
  on_dry_meshes(least, [&](auto const& mesh, auto const& sizes) {
    using a = doubles<DimI, DimJ>;
    return call_in_a_body<ByTypes, Make, DimI, DimJ, a, Collective, More...>{
        collective, ostraka::zeros<a>(mesh, sizes), {more...}};
  });
}

}  // namespace ostraka::testing
