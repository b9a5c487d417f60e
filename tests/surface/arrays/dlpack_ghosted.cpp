// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arrays with ghost layers by DLPack, of every layout and of extents from none to some: os::from_dlpack uses another
/// library's array in place, and os::to_dlpack exports the part that a device owns. Plain loops know every element.
// ranks: 1 2 3 4
// checked: 2
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/dlpack.hpp>

#include "local_view/ghosted.hpp"
#include "support/foreign_array.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;
namespace g = t::ghosted;

namespace {

using versioned = os::dlpack::DLManagedTensorVersioned;
using unversioned = os::dlpack::DLManagedTensor;
using list = std::vector<std::int64_t>;

// A piece of memory, as another library passes it.
struct passed_piece {
  g::piece piece;
  list shape;
  t::foreign_array<double> array;

  passed_piece(g::lies const& how, g::both_axes const& a) : piece(how), shape{a.i.padded(), a.j.padded()} {
    g::set_own(piece, a);
    array.elements.assign(piece.memory.size(), 0);
    std::copy(piece.memory.begin(), piece.memory.end(), &array.elements[0]);
  }
  template <class Managed>
  Managed* pass() {
    return array.template pass<Managed>({shape, {piece.how.step_i, piece.how.step_j}}, t::float64,
                                        static_cast<std::size_t>(piece.how.first));
  }
  // The elements are now in the memory that was passed.
  g::piece& after() {
    array.elements.fetch();
    for (std::size_t k = 0; k < array.elements.size(); ++k) piece.memory[k] = array.elements[k];
    piece.memory.send();
    return piece;
  }
};

}  // namespace

TEST_CASE("in place, in every layout, and out again") {
  g::on_all([](t::test_mesh const& m, g::mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 2) return;  // a halo is no wider than its axis
    g::both_axes const a{g::here(m, "X", n, 2, 1, false), g::here(m, "Y", k, 0, 1, false)};
    for (g::lies const& how : g::layouts(a)) {
      INFO(how.name);
      passed_piece given(how, a);
      {
        auto field = os::from_dlpack<double, os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(mesh, I = n, J = k,
                                                                                           given.pass<versioned>());
        static_assert(
            std::is_same_v<decltype(field), os::ghosted_array<double, os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>>);
        CHECK(field.global_offset(I) == a.i.begin);
        os::exchange_halo_into<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(field);
        CHECK(g::wrong(given.after(), a, true) == 0);

        auto out = os::to_dlpack(field);
        auto old = os::to_dlpack<unversioned>(field);
        field = {};
        CHECK(given.array.released == 0);
        CHECK(out->flags == 0);
        auto const check = [&](os::dlpack::DLTensor const& block) {
          CHECK(block.ndim == 2);
          CHECK(list(block.shape, block.shape + 2) == list{a.i.own(), a.j.own()});
          CHECK(list(block.strides, block.strides + 2) == list{how.step_i, how.step_j});
          auto* const first = given.array.elements.data() + how.first + 2 * how.step_i;
          CHECK(block.data == (a.i.own() * a.j.own() == 0 ? nullptr : first));
          int wrong = 0;
          given.array.elements.fetch();
          for (std::int64_t i = 0; i < a.i.own(); ++i)
            for (std::int64_t j = 0; j < a.j.own(); ++j) {
              auto* const at = static_cast<double const*>(block.data) + i * how.step_i + j * how.step_j;
              wrong += given.array.elements[static_cast<std::size_t>(at - given.array.elements.data())] !=
                       g::value_at(a.i.begin + i, a.j.begin + j);
            }
          CHECK(wrong == 0);
        };
        check(out->dl_tensor);
        check(old->dl_tensor);
      }
      CHECK(given.array.released == given.array.passed);
    }
  });
}

TEST_CASE("another order, the older struct, and a class that keeps the array") {
  g::on_all([](t::test_mesh const& m, g::mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n == 0) return;
    g::both_axes const a{g::here(m, "X", n, 1, 1, true), g::here(m, "Y", k, 0, 0, false)};
    passed_piece given(g::layouts(a).front(), a);
    {
      os::ghosted_array<double, J / Y, os::halo<I, 1> / X> kept;
      kept = os::from_dlpack<double, J / Y, os::halo<I, 1> / X>(mesh, I = n, J = k,
                                                                os::in_order<I, J>(given.pass<unversioned>()));
      auto const copy = kept;
      kept = {};
      os::exchange_halo_into<os::halo<I, 1> / X>(copy, os::periodic);
      CHECK(given.array.released == 0);
      CHECK(g::wrong(given.after(), a, true) == 0);
    }
    CHECK(given.array.released == 1);
  });
}

TEST_CASE("what is read only stays so, and what does not fit is said alike") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks(), k = 3;
  bool const is_last = t::rank() == t::ranks() - 1;
  std::string const last = std::to_string(t::ranks() - 1);
  t::foreign_array<double> array;
  array.elements.assign(40, 1);
  auto const adopt = [&](list const& shape, list const& strides, std::uint64_t flags) {
    auto* const managed = array.pass<versioned>({shape, strides}, t::float64, 20);
    managed->flags = flags;
    std::string const said = t::said_alike(
        [&] { static_cast<void>(os::from_dlpack<double, os::halo<I, 1> / X, J>(mesh, I = n, J = k, managed)); });
    CHECK(array.released == array.passed);
    return said;
  };
  CHECK(adopt({4, k}, {k, 1}, 0) == "nothing");
  CHECK(adopt({4, k}, {}, is_last ? os::dlpack::read_only_flag : 0) ==
        "from_dlpack: the elements of a tensor may be written, but those of device " + last +
            " are read only; name a tensor of constant elements, or copy them with os::copy_from_dlpack");
  CHECK(adopt({is_last ? 2 : 4, k}, {k, 1}, 0) ==
        "from_dlpack: each view has the extents of its device's block with its ghost layers, but that of device " +
            last + " has not; device " + last +
            " holds 4 elements along dimension 0 and its view has 2; device d of p holds [floor(d*n/p), "
            "floor((d+1)*n/p)) of an extent n");
  CHECK(adopt({4, k}, {is_last ? -k : k, 1}, 0) ==
        "from_dlpack: each element has a place of its own, further on than the one before it, but the view of device " +
            last +
            " has a stride of 0, or a negative one, or one too short for its extents; give one with positive strides "
            "that are long enough");

  auto* const managed = array.pass<versioned>({{4, k}, {}}, t::float64);
  managed->flags = os::dlpack::read_only_flag;
  auto const constant = os::from_dlpack<double const, os::halo<I, 1> / X, J>(mesh, I = n, J = k, managed);
  static_assert(std::is_same_v<decltype(constant)::element_type, double const>);
  CHECK(os::to_dlpack(constant)->flags == os::dlpack::read_only_flag);
  CHECK(os::value(os::psum<X>(os::sum_over_points([](double x) { return x; }, constant))) ==
        static_cast<double>(n * k));
}
