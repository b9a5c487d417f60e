// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of halos. The exchange's derivative is its transpose, by plain loops over the whole tensor, on every
/// mesh, with uneven, narrow and empty blocks, rings and ends, corners or none. Stencils and convolutions by
/// differences of plain undivided programs.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

struct padding {
  int width = 0;
  bool ring = false;
  int wider_behind = 0;  // so much wider behind than before

  int behind() const { return width + wider_behind; }
};

// Any number, different for each device along these mesh axes, and each place.
double weight(t::test_mesh const& m, std::string const& mesh_axes, int rank, std::int64_t i) {
  double w = 1.0 + 1.3 * static_cast<double>(i);
  for (char axis : mesh_axes) w = 1.9 * w + m.coordinate(std::string(1, axis), rank);
  return std::sin(w);
}

// Calls f(rank, place in its padded block, place in the whole) for each element of a padded block that is a copy of one
// of the whole: on one of the devices that hold the same block.
template <class A, class F>
void for_each_copy(t::test_mesh const& m, t::global_tensor<double> const& g, std::string const& mesh_axes,
                   std::vector<padding> const& p, bool corners, F const& f) {
  for (int rank = 0; rank < t::ranks(); ++rank) {
    bool is_first = true;
    for (char axis : std::string("XYZ"))
      is_first =
          is_first && (mesh_axes.find(axis) != std::string::npos || m.coordinate(std::string(1, axis), rank) == 0);
    if (!is_first) continue;
    auto const block = t::block_on<A>(m, g.extents, rank);
    std::int64_t count = 1;
    for (std::size_t d = 0; d < p.size(); ++d) count *= block[d].end - block[d].begin + p[d].width + p[d].behind();
    for (std::int64_t i = 0; i < count; ++i) {
      t::extents_by_letter index;
      bool is_there = true;
      int margins = 0;
      std::int64_t rest = i;
      for (std::size_t d = p.size(); d-- > 0;) {
        std::int64_t const n = block[d].end - block[d].begin + p[d].width + p[d].behind();
        std::int64_t const whole = g.extents.at(g.labels[d]);
        std::int64_t at = block[d].begin - p[d].width + rest % n;
        margins += at < block[d].begin || at >= block[d].end ? 1 : 0;
        if (p[d].ring && whole > 0) at = (at % whole + whole) % whole;
        is_there = is_there && at >= 0 && at < whole;
        index[g.labels[d]] = at;
        rest /= n;
      }
      if (is_there && (corners || margins < 2)) f(rank, i, g.position(index));
    }
  }
}

bool fits(t::extents_by_letter const& e, std::string const& labels, std::vector<padding> const& p) {
  bool fit = true;
  for (std::size_t d = 0; d < labels.size(); ++d)
    fit = fit && p[d].width <= e.at(labels[d]) && p[d].behind() <= e.at(labels[d]);
  return fit;
}

// ⟨ȳ, E x⟩ over all devices, ȳ being any padded blocks, and its gradient by x, which is Eᵀ ȳ.
template <class A, auto... Halos, class... Options>
void check_transpose(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& mesh_axes,
                     std::vector<padding> const& p, Options const&... options) {
  auto const g = t::whole_numbers<double>(t::letters_in<A>(), e, 7);
  if (!fits(e, g.labels, p)) return;
  constexpr bool corners = !(std::is_same_v<Options, os::faces_only> || ...);
  auto wanted = g;
  double pairing = 0;
  for (double& v : wanted.values) v = 0;
  for_each_copy<A>(m, g, mesh_axes, p, corners, [&](int rank, std::int64_t i, std::size_t at) {
    wanted.values[at] += weight(m, mesh_axes, rank, i);
    pairing += weight(m, mesh_axes, rank, i) * g.values[at];
  });
  auto const read = os::custom_vjp([](auto const& padded) { return os::own(padded); },
                                   [&](auto const&, auto const&, auto const& padded) {
                                     auto const w = os::zeros_like(padded);
                                     t::change_block(w, [&](auto const& block) {
                                       for (std::size_t i = 0; i < block.size(); ++i)
                                         block.data()[i] =
                                             weight(m, mesh_axes, t::rank(), static_cast<std::int64_t>(i));
                                     });
                                     return w;
                                   });
  for (bool const begun : {false, true}) {
    auto const loss = [&](auto const& x) {
      auto const own = [&]<class... Es>(os::sharding<Es...>) {
        return os::shard_map<Es{}...>(
            [&](auto b) {
              if (begun) return read(os::start_exchange_halo<Halos...>(b, options...).wait());
              return read(os::exchange_halo<Halos...>(b, options...));
            },
            x);
      }(os::sharding_in<A>{});
      return os::sum<>(own);
    };
    auto const r = os::value_and_grad(loss)(t::placed<A>(m, g));
    CHECK(t::disagreements(m, r.gradient, wanted, [](double got, double want) {
            return std::abs(got - want) <= 1e-13 * (1 + std::abs(want));
          }) == 0);
    double transposed = 0;
    t::global_tensor<double> const whole = g;
    for (std::size_t i = 0; i < whole.values.size(); ++i) transposed += wanted.values[i] * whole.values[i];
    CHECK(std::abs(transposed - pairing) <= 1e-10 * (1 + std::abs(pairing)));
  }
}

template <class F>
void on_all(F&& f) {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  all.push_back({{'B', 5}, {'I', 17}, {'J', 11}, {'K', 1}, {'L', 1}});
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : all) {
      INFO(m.text(), t::text_of(e));
      f(m, e);
    }
  });
}

}  // namespace

TEST_CASE("what neighbours have of an index is added where it is") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    using A = tensor<I/X, J>;
    check_transpose<A, os::halo<I, 1>/X>(m, e, "X", {{1}, {}});
    check_transpose<A, os::halo<I, 3>/X>(m, e, "X", {{3}, {}}, os::boundary = 2.5);
    check_transpose<A, os::halo<I, 7>/X>(m, e, "X", {{7, true}, {}}, os::periodic);
    check_transpose<A, os::halo<J, 2>>(m, e, "X", {{}, {2, true}}, os::periodic);
    check_transpose<A, os::halo<I, 1, 3> / X>(m, e, "X", {{1, false, 2}, {}});
    check_transpose<A, os::halo<I, 2, 0> / X, os::halo<J, 0, 1>>(m, e, "X", {{2, true, -2}, {0, true, 1}},
                                                                 os::periodic);
  });
}

TEST_CASE("two axes and three, with corners and without") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    using A = tensor<I/X, J/Y>;
    using os::engine::emulated_gpu;
    for (auto const gpu : {emulated_gpu::direct, emulated_gpu::staged, emulated_gpu::none}) {
      os::engine::emulated = gpu;
      check_transpose<A, os::halo<I, 1>/X, os::halo<J, 3>/Y>(m, e, "XY", {{1, true}, {3, true}}, os::periodic);
    }
    check_transpose<A, os::halo<J, 2>/Y, os::halo<I, 1>/X>(m, e, "XY", {{1}, {2, true}}, os::boundary = -1,
                                                           os::periodic(J));
    check_transpose<A, os::halo<I, 1>/X, os::halo<J, 1>/Y>(m, e, "XY", {{1, true}, {1}}, os::periodic(I), os::faces);
    check_transpose<tensor<B/Z, I/X, J/Y>, os::halo<B, 1>/Z, os::halo<I, 1>/X, os::halo<J, 1>/Y>(
        m, e, "XYZ", {{1, true}, {1}, {1, true}}, os::periodic(J, B));
    check_transpose<tensor<I/Y/X, B, J/Z>, os::halo<I, 2>/Y/X, os::halo<J, 1>/Z>(m, e, "XYZ", {{2}, {}, {1, true}},
                                                                                 os::periodic(J));
  });
}
