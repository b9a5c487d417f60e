// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations by an index tensor against plain loops.
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

/// What it throws on this rank; the same on all of them, else "different".
template <class F>
std::string error_of(F&& f) {
  std::string text;
  try {
    f();
  } catch (os::error const& e) {
    text = e.what();
  }
  for (std::vector<char> const& other : t::bytes_of_ranks({text.begin(), text.end()}))
    if (std::string(other.begin(), other.end()) != text) return "different";
  return text;
}

}  // namespace

TEST_CASE("an index out of range is named on all ranks alike") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    t::global_tensor<std::int64_t> g{"IJ", {{'I', 7}, {'J', 5}}, std::vector<std::int64_t>(35, 3)};
    auto const check = [&](auto const& index, std::int64_t extent) {
      return error_of([&] { os::detail::check_range<os::detail::checked_range>("take", index, "V", extent); });
    };
    using whole = os::tensor<std::int64_t, I, J>;
    using divided = os::tensor<std::int64_t, I/X, J/Y>;
    CHECK(check(t::placed<whole>(m, g), 4) == "");
    CHECK(check(t::placed<divided>(m, g), 4) == "");
    g.values[13] = -1;
    g.values[27] = 77;
    std::string const wrong =
        "take: an index is one of 0 … 3 along V, but it is -1 at I = 2, J = 3; correct it, or give the axis a larger "
        "extent";
    CHECK(check(t::placed<whole>(m, g), 4) == wrong);
    CHECK(check(t::placed<divided>(m, g), 4) == wrong);
    g.values[13] = 0;
    CHECK(check(t::placed<divided>(m, g), 78) == "");
    CHECK(check(t::placed<divided>(m, g), 0).find("none of the empty axis V") != std::string::npos);
    auto const index = t::placed<divided>(m, g);
    auto const nothing = t::placed<whole>(m, g);
    auto const moved =
        t::traffic_of([&] { os::detail::check_range<os::detail::checked_range>("take", index, "V", 78); });
    std::int64_t const foretold = os::detail::bytes_of_check<os::detail::checked_range>(index);
    CHECK((moved.bytes + t::ranks() - 1) / t::ranks() == foretold);
    CHECK(t::traffic_of([&] { os::detail::check_range<os::detail::checked_range>("take", nothing, "V", 78); }).calls ==
          0);
    CHECK(t::traffic_of([&] { os::detail::check_range<os::detail::promised_range>("take", index, "V", 1); }).calls ==
          0);
  });
}
