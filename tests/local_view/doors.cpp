// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::shard_map: the operands and results of a body, on every mesh, with uneven and empty blocks, against plain loops;
/// passing them moves nothing. The matmul of the tutorials, [I_X, J_Y] · [J_Y, K] → [I_X, K], written out for each
/// device.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

template <class F>
void on_all(F&& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      f(m, e);
    }
  });
}

template <class A>
t::global_tensor<double> numbers(t::extents_by_letter const& e, int seed) {
  return t::whole_numbers<double>(t::letters_in<A>(), e, static_cast<std::uint64_t>(seed));
}

}  // namespace

TEST_CASE("a matmul") {
  using left = tensor<I/X, J/Y>;
  using right = tensor<J/Y, K>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const whole_a = numbers<left>(e, 1), whole_b = numbers<right>(e, 2);
    auto const l = t::placed<left>(m, whole_a);
    auto const r = t::placed<right>(m, whole_b);
    auto const wanted = t::product_by_loops("IK", whole_a, whole_b);
    auto const C = os::shard_map<I/X, K>(
        [](auto a, auto b) {
          static_assert(std::is_same_v<decltype(a), tensor<I, J, os::varying(X, Y)>>);
          auto const c = os::einsum<I, K>(a, b);
          static_assert(std::is_same_v<decltype(c), tensor<I, K, os::varying(X, Y)> const>);
          return os::psum<Y>(c);
        },
        l, r);
    static_assert(std::is_same_v<decltype(C), tensor<I/X, K> const>);
    CHECK(t::disagreements(m, C, wanted) == 0);
    auto const as_parts =
        os::shard_map<I/X, K, os::partial(Y)>([](auto a, auto b) { return os::einsum<I, K>(a, b); }, l, r);
    CHECK(t::disagreements(m, as_parts, wanted) == 0);
    auto const planned_over_y =
        os::shard_map<os::manual(X), I/X, K>([](auto a, auto b) { return os::einsum<I, K>(a, b); }, l, r);
    CHECK(t::disagreements(m, planned_over_y, wanted) == 0);
    auto const contracted =
        os::shard_map<I/X, K>([](auto a, auto b) { return os::psum<Y>(os::contract<J>(a, b)); }, l, r);
    CHECK(t::disagreements(m, contracted, wanted) == 0);
  });
}

TEST_CASE("what leaves as it came") {
  using whole = tensor<B/X, I/Y/Z, J>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const values = numbers<whole>(e, 3);
    auto const A = t::placed<whole>(m, values);
    auto const before = t::traffic_so_far();
    auto const same = os::shard_map<B/X, I/Y/Z, J>([](auto a) { return a; }, A);
    auto const [first, second] = os::shard_map<dims<B/X, I/Y/Z, J>{}, dims<B/X, J, I/Y/Z>{}>(
        [](auto a) { return std::tuple{a, os::einsum<B, J, I>(a)}; }, os::in<B/X, I/Y/Z, J>(A));
    auto const nested = os::shard_map<os::manual(X), B/X, I/Y/Z, J>(
        [](auto a) {
          static_assert(std::is_same_v<decltype(a), tensor<B, I/Y/Z, J, os::varying(X)>>);
          return os::shard_map<os::manual(Y, Z), B, I/Y/Z, J>([](auto b) { return b; }, a);
        },
        A);
    auto const after = t::traffic_so_far();
    CHECK(after.bytes == before.bytes);
    CHECK(after.calls == before.calls);
    CHECK(same.local().data() == A.local().data());
    CHECK(nested.local().data() == A.local().data());
    CHECK(t::disagreements(m, same, values) == 0);
    CHECK(t::disagreements(m, first, values) == 0);
    CHECK(t::disagreements(m, second, values) == 0);
    CHECK(t::disagreements(m, nested, values) == 0);
  });
}

TEST_CASE("arrays, tuples and pairs of tensors") {
  using left = tensor<I/X, J/Y>;
  using right = tensor<J/Y, K>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const whole_a = numbers<left>(e, 1), whole_b = numbers<right>(e, 2);
    auto const l = t::placed<left>(m, whole_a);
    auto const r = t::placed<right>(m, whole_b);
    auto const v = os::cast<std::int32_t>(os::sum<I/X>(l));
    auto const before = t::traffic_so_far();
    auto const [same, twice, sums] = os::shard_map<dims<I/X, J/Y>{}, dims<J/Y, K>{}, dims<I/X>{}>(
        [](auto pair, auto nested, auto array) {
          using block = tensor<J, K, os::varying(Y)>;
          using number = os::tensor<std::int32_t, I, os::varying(X)>;
          static_assert(std::is_same_v<decltype(nested), std::tuple<std::array<std::array<block, 2>, 1>, number>>);
          static_assert(std::is_same_v<decltype(pair), std::pair<tensor<I, J, os::varying(X, Y)>, block>>);
          auto const& [inner, numbers] = nested;
          return std::tuple{array[2], os::add(inner[0][1], pair.second), numbers};
        },
        std::pair{l, r}, std::tuple{std::array<std::array<right, 2>, 1>{{{r, r}}}, v}, std::array{l, l, l});
    CHECK(t::traffic_so_far().bytes == before.bytes);
    CHECK(t::disagreements(m, same, whole_a) == 0);
    CHECK(t::disagreements(m, os::scale(twice, 0.5), whole_b) == 0);
    CHECK(os::value(os::sum<>(sums)) == static_cast<std::int32_t>(os::value(os::sum<>(l))));
  });
}

TEST_CASE("all_to_all along one axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const nx = m.size("X"), n = nx * m.size("Y");
    for (std::int64_t length : {0, 1, 3}) {  // of the parts
      INFO(m.text(), length);
      t::extents_by_letter const e{{'J', 5}, {'I', n * n * length}};
      auto const values = t::whole_numbers<double>("JI", e, 5);
      auto const A = t::placed<tensor<J, I/X/Y>>(m, values);
      auto const over = t::placed<tensor<J, I/X>>(m, values);
      // Index (to, from, i) of the result is (from, to, i) of the operand.
      auto const exchanged = [&](std::int64_t devices) {
        auto wanted = values;
        std::int64_t const part = e.at('I') / (devices * devices);
        for (std::int64_t j = 0; j < 5; ++j)
          for (std::int64_t from = 0; from < devices; ++from)
            for (std::int64_t to = 0; to < devices; ++to)
              for (std::int64_t i = 0; i < part; ++i)
                wanted.values[j * e.at('I') + (to * devices + from) * part + i] =
                    values.values[j * e.at('I') + (from * devices + to) * part + i];
        return wanted;
      };
      auto const over_both = os::shard_map<J, I/X/Y>([](auto a) { return os::all_to_all<I/X/Y, I/X/Y>(a); }, A);
      CHECK(t::disagreements(m, over_both, exchanged(n)) == 0);
      auto const over_x = os::shard_map<J, I/X>(
          [](auto a) { return os::start_all_to_all<I/X, I/X>(a).wait(); }, over);
      CHECK(t::disagreements(m, over_x, exchanged(nx)) == 0);
      if (length == 1 && nx > 1) {
        auto const few = t::placed<tensor<I/X>>(m, t::whole_numbers<double>("I", {{'I', nx}}, 6));
        CHECK_THROWS_AS((os::shard_map<I/X>([](auto a) { return os::all_to_all<I/X, I/X>(a); }, few)), os::error);
      }
    }
  });
}

TEST_CASE("collectives") {
  using summands = tensor<I, J, os::partial(X)>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const values = numbers<summands>(e, 4);
    auto const A = t::placed<summands>(m, values);
    auto const D = t::placed<tensor<I/X, J>>(m, values);
    CHECK(t::disagreements(m, os::shard_map<I, J>([](auto a) { return os::psum<X>(a); }, A), values) == 0);
    auto const mean = os::shard_map<I, J>([](auto a) { return os::pmean<X>(a); }, A);
    CHECK(t::disagreements(m, os::scale(mean, m.size("X")), values) == 0);
    CHECK(t::disagreements(m, os::shard_map<I/X, J>([](auto a) { return os::psum_scatter<I/X>(a); }, A), values) == 0);
    CHECK(t::disagreements(m, os::shard_map<I, J/X>([](auto a) { return os::psum_scatter<J/X>(a); }, A), values) == 0);
    CHECK(t::disagreements(m, os::shard_map<I, J>([](auto a) { return os::all_gather<I/X>(a); }, D), values) == 0);
    CHECK(t::disagreements(m, os::shard_map<I, J/X>([](auto a) { return os::all_to_all<I/X, J/X>(a); }, D),
                           values) == 0);
    auto const stacked = os::shard_map<I, J>(
        [](auto a) { return os::sum<I, J>(os::all_gather<K/X>(a)); }, A);
    CHECK(t::disagreements(m, stacked, values) == 0);
    if (e.at('I') % m.size("X") != 0)
      CHECK_THROWS_AS((os::shard_map<I/X, J>([](auto a) { return os::pvary<X>(os::psum<X>(a)); }, D)), os::error);
  });
}
