// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::gather_to_root: A[I_X, J_Y] → A[I, J] on device 0, each element sent once however often it is replicated;
/// os::scatter_from_root, its inverse.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

template <class T, auto... Dims>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>) {
  using tensor = os::tensor<T, Dims...>;
  using value = typename tensor::value_type;
  std::string const labels = t::letters_in<tensor>();
  auto const g = t::whole_numbers<value>(labels, e, 23);
  auto const a = t::placed<tensor>(m, g);
  decltype(os::gather_to_root(a)) gathered;
  CHECK_THROWS_WITH_AS(
      static_cast<void>(*gathered),
      "gather_to_root: nothing has been gathered into this handle; assign what os::gather_to_root returns", os::error);
  t::traffic const moved = t::traffic_of([&] { gathered = os::gather_to_root(a); });
  INFO(m.text(), t::text_of(e), os::describe(a));
  // Device 0 has its own block; the rest arrives.
  std::int64_t own = 1;
  for (t::index_range const& r : t::block_on<tensor>(m, e, 0)) own *= r.end - r.begin;
  CHECK(moved.bytes == (t::number_of_elements(labels, e) - own) * static_cast<std::int64_t>(sizeof(value)));
  CHECK(static_cast<bool>(gathered) == (t::rank() == 0));
  if (gathered) {
    auto const& whole = *gathered;
    REQUIRE(whole.size() == g.values.size());
    for (std::size_t d = 0; d < labels.size(); ++d)
      CHECK(static_cast<std::int64_t>(whole.extent(d)) == e.at(labels[d]));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < g.values.size(); ++i) wrong += whole.data()[i] == g.values[i] ? 0 : 1;
    CHECK(wrong == 0);
    // The view of a temporary lives on.
    auto const& kept = *decltype(gathered)(gathered);
    static_assert(!std::is_reference_v<decltype(*os::gather_to_root(a))>);
    CHECK(kept.data() == whole.data());
  } else {
    std::string const sentence =
        "gather_to_root: the elements are on device 0 alone, and this is device " + std::to_string(t::rank()) +
        "; read them only where the result is true, as in if (whole) use(*whole), or have them on every device by "
        "os::reshard<I, J>(A)";
    CHECK_THROWS_WITH_AS(static_cast<void>(gathered->size()), sentence.c_str(), os::error);
  }
}

template <class T>
void check_all() {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<T>(m, e, dims<I, J>{});
      check<T>(m, e, dims<I/X, J>{});
      check<T>(m, e, dims<I, K/X>{});
      check<T>(m, e, dims<I/Y, K/X>{});
      check<T>(m, e, dims<I/X/Y>{});
      check<T>(m, e, dims<I/Y/X>{});
      check<T>(m, e, dims<B/Z, I/X, J, K/Y>{});
      check<T>(m, e, dims<>{});
    }
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("double") { check_all<double>(); }
TEST_CASE("complex<float>") { check_all<std::complex<float>>(); }
TEST_CASE("complex<double>") { check_all<Kokkos::complex<double>>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }
TEST_CASE("int64") { check_all<std::int64_t>(); }
