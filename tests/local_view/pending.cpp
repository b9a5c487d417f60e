// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations that are begun and waited for later: several in flight at once, waited for in their order, dropped, and
/// in a loop; in bodies of os::shard_map and outside. Each gives the result of plain loops.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

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

// The blocks that exist now, as Kokkos counts them.
long blocks_alive = 0;

}  // namespace

TEST_CASE("collectives of a body") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const values = t::whole_numbers<double>("IJ", e, 4);
    auto const parts = t::placed<tensor<I, J, os::partial(X)>>(m, values);
    auto const divided = t::placed<tensor<I/X, J>>(m, values);
    auto const [sum, scattered, gathered, exchanged] =
        os::shard_map<os::dims<I, J>{}, os::dims<I/X, J>{}, os::dims<I, J>{}, os::dims<I, J/X>{}>(
            [](auto p, auto d) {
              auto a = os::start_psum<X>(p);
              auto b = os::start_psum_scatter<I/X>(p);
              auto c = os::start_all_gather<I/X>(d);
              auto f = os::start_all_to_all<I/X, J/X>(d);
              auto mean = os::start_pmean<X>(p);
              static_cast<void>(os::start_pmax<X>(p));  // dropped: it waits
              static_cast<void>(os::start_pmean<X>(p));
              static_cast<void>(a.test());
              auto ra = std::move(a).wait();
              auto rb = std::move(b).wait();
              auto rc = std::move(c).wait();
              auto const mean_here = t::read_elements<double>(std::move(mean).wait().local().data(), ra.local().size());
              auto const sum_here = t::read_elements<double>(ra.local().data(), ra.local().size());
              int different = 0;
              for (std::size_t i = 0; i < sum_here.size(); ++i)
                different += mean_here[i] != sum_here[i] / os::axis_size<X>(p);
              CHECK(different == 0);
              return std::tuple{ra, rb, rc, std::move(f).wait()};
            },
            parts, divided);
    CHECK(t::disagreements(m, sum, values) == 0);
    CHECK(t::disagreements(m, scattered, values) == 0);
    CHECK(t::disagreements(m, gathered, values) == 0);
    CHECK(t::disagreements(m, exchanged, values) == 0);
  });
}

TEST_CASE("operations of the global view") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const a = t::whole_numbers<double>("IJ", e, 5), b = t::whole_numbers<double>("JK", e, 6);
    auto const left = t::placed<tensor<I/X, J/Y>>(m, a);
    auto const right = t::placed<tensor<J/Y, K>>(m, b);
    auto product = os::start_einsum<I/X, K>(left, right);
    auto moved = os::start_reshard<I, J/X>(left);
    auto scattered = os::start_einsum<I/X, K/Y>(left, right);
    auto const wanted = t::product_by_loops("IK", a, b);
    CHECK(t::disagreements(m, std::move(product).wait(), wanted) == 0);
    CHECK(t::disagreements(m, std::move(moved).wait(), a) == 0);
    CHECK(t::disagreements(m, std::move(scattered).wait(), wanted) == 0);
    auto gathered = os::start_reshard<I, J>(left);
    gathered = os::start_reshard<I, J>(left);  // the first is waited for
    CHECK(t::disagreements(m, std::move(gathered).wait(), a) == 0);
  });
}

// helmholtz-analytics/heat#2108
TEST_CASE("what is begun reads its operand until wait; what is written behind it is not sent") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t elements : {1, 131072}) {  // 8 B, which MPI copies, and 1 MiB, which it does not
      INFO(m.text(), elements);
      auto const n = m.size("X");
      os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
      auto const a = os::generate<double, I/X>(mesh, I = elements * n, [](std::int64_t i) { return double(i); });
      auto const shifted = os::shard_map<I/X>(
          [&](auto block) {
            auto coming = os::start_shift<X>(block, +1);
            auto const own = os::copy(block);  // reading is allowed meanwhile, and the copy may be written
            Kokkos::deep_copy(own.local(), -1.0);
            auto const next = std::move(coming).wait();
            Kokkos::deep_copy(block.local(), -2.0);  // and the operand from now on
            return next;
          },
          os::copy(a));
      t::global_tensor<double> wanted{"I", {{'I', elements * n}}, {}};
      for (std::int64_t i = 0; i < elements * n; ++i)
        wanted.values.push_back(static_cast<double>((i + elements * (n - 1)) % (elements * n)));
      CHECK(t::disagreements(m, shifted, wanted) == 0);
    }
  });
}

TEST_CASE("nothing is left of what was begun, waited for or dropped") {
  namespace tools = Kokkos::Tools::Experimental;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = t::placed<tensor<I/X, J>>(m, t::whole_numbers<double>("IJ", e, 4));
    auto const right = t::placed<tensor<J, K>>(m, t::whole_numbers<double>("JK", e, 6));
    auto const begin_all = [&] {
      static_cast<void>(os::start_reshard<I, J>(rows));
      static_cast<void>(os::start_einsum<I, K>(rows, right));
      auto kept = os::start_reshard<I, J/X>(rows);
      kept = os::start_reshard<I, J/X>(rows);
      auto const moved = std::move(kept).wait();
      auto const moved_whole = os::start_reshard<I, J>(moved).wait();
      os::shard_map<I, J>([](auto w) { return os::start_psum<X>(os::pvary<X>(w)).wait(); }, moved_whole);
      os::shard_map<I/X, J>(
          [](auto a) {
            static_cast<void>(os::start_all_gather<I/X>(a));
            static_cast<void>(os::start_shift<X>(a, 1));
            static_cast<void>(os::start_shift<X>(a, -1).wait());
            return a;
          },
          rows);
    };
    for (int i = 0; i < 3; ++i) begin_all();  // operations have allocated what they keep
    blocks_alive = 0;
    tools::set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t) { ++blocks_alive; });
    tools::set_deallocate_data_callback([](auto, char const*, void const*, std::uint64_t) { --blocks_alive; });
    for (int i = 0; i < 10; ++i) begin_all();
    tools::set_allocate_data_callback(nullptr);
    tools::set_deallocate_data_callback(nullptr);
    CHECK(blocks_alive == 0);
  });
}
