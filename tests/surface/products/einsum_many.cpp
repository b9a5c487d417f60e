// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum of three, four and five tensors: the elements against plain loops over all labels at once, and the bytes
/// against the plan's. D[I_X, L] = A[I_X, J] · B[J, K_Y] · C[K_Y, L], and chains, attention, tensor networks.
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

using number = std::int64_t;

// The product of all tensors by one nest of loops.
t::global_tensor<number> product_of_all(std::string const& out, std::vector<t::global_tensor<number>> const& factors) {
  std::string labels;
  for (auto const& f : factors) labels = t::labels_of_both(labels, f.labels);
  t::extents_by_letter const& extents = factors[0].extents;
  t::global_tensor<number> r{out, extents,
                             std::vector<number>(static_cast<std::size_t>(t::number_of_elements(out, extents)), 0)};
  t::for_each_index(labels, extents, [&](t::extents_by_letter const& at) {
    number product = 1;
    for (auto const& f : factors) product *= f.values[f.position(at)];
    r.values[r.position(at)] += product;
  });
  return r;
}

template <class Dims>
struct tensor_with;

template <auto... Dims>
struct tensor_with<dims<Dims...>> {
  using type = os::tensor<number, Dims...>;
};

template <auto... Out, class... Operands>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, Operands...) {
  using result = os::tensor<number, Out...>;
  constexpr auto plan = os::plan_of<dims<Out...>, typename tensor_with<Operands>::type...>;
  std::vector<t::global_tensor<number>> whole;
  (whole.push_back(
       t::whole_numbers<number>(t::letters_in<typename tensor_with<Operands>::type>(), e, whole.size() + 1)),
   ...);
  auto const operands = [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    return std::tuple(t::placed<typename tensor_with<Operands>::type>(m, whole[Is])...);
  }(std::index_sequence_for<Operands...>{});
  result r;
  t::traffic const moved =
      t::traffic_of([&] { r = std::apply([](auto const&... o) { return os::einsum<Out...>(o...); }, operands); });
  INFO(m.text(), t::text_of(e), "\n", describe(plan, t::named(e), m.sizes()));
  CHECK(t::disagreements(m, r, product_of_all(t::letters_in<result>(), whole)) == 0);
  CHECK(moved.bytes == plan.total_bytes(t::named(e), m.sizes()));
  ++t::cases_checked;
}

}  // namespace

TEST_CASE("three operands") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<I/X, L>{}, dims<I/X, J>{}, dims<J, K>{}, dims<K, L>{});
    check(m, e, dims<I, L/Y>{}, dims<I, J/X>{}, dims<J, K/Y>{}, dims<K/X, L>{});
    check(m, e, dims<I/X>{}, dims<I, J/X>{}, dims<J, K/Y>{}, dims<K>{});  // a vector behind
    check(m, e, dims<B/X, I, L>{}, dims<B/X, I, J>{}, dims<B/X, K/Y, J>{}, dims<B, K/Y, L>{});          // attention
    check(m, e, dims<I/Y, L, partial(X)>{}, dims<I, J, partial(X)>{}, dims<J/Y, K>{}, dims<K/X, L>{});
    check(m, e, dims<>{}, dims<I/X, J/Y>{}, dims<J, K/X>{}, dims<K/Y, I>{});                            // a trace
  });
}

TEST_CASE("four and five operands") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<B/X, L>{}, dims<B/X, I/Y>{}, dims<I, J/X>{}, dims<J, K/Y>{}, dims<K, L>{});
    check(m, e, dims<L/Y>{}, dims<I/X>{}, dims<I, J>{}, dims<J/Y, K>{}, dims<K/X, L>{});
    check(m, e, dims<J/X>{}, dims<B/X, I/Y, K>{}, dims<B, J>{}, dims<I/X, J/Y>{},
          dims<K, J>{});  // a tensor in three factors
    check(m, e, dims<B, L/X>{}, dims<B, I/X>{}, dims<I/X, J/Y>{}, dims<J, K/Y>{}, dims<K/X, L>{}, dims<L>{});
  });
}
