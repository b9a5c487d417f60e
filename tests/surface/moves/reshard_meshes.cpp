// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 300

/// @file
/// os::reshard from mesh to mesh: the same processes in another grid or order, some of them, more of them. All meshes
/// name their axes X, Y and Z and mean different things by them. Elements are compared with the whole tensor, bytes
/// with the elements that processes lack, counted here.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

// A mesh and the ranks that are its devices, in the order of their numbers.
struct mesh_on_ranks {
  t::test_mesh mesh;
  std::vector<int> ranks;

  [[nodiscard]] int device_of(int rank) const {
    auto const at = std::find(ranks.begin(), ranks.end(), rank);
    return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
  }
  [[nodiscard]] std::string text() const {
    std::string s = mesh.text() + "on ranks";
    for (int r : ranks) s += ' ' + std::to_string(r);
    return s + "; ";
  }
};

mesh_on_ranks make(t::mesh_shape shape, std::vector<int> const& ranks) {
  auto const at = std::find(ranks.begin(), ranks.end(), t::rank());
  std::vector<std::string> names;
  for (char a : shape.axes) names.emplace_back(1, a);
  std::shared_ptr<os::engine::device_mesh const> handle;
#if OSTRAKA_ENABLE_MPI
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, at == ranks.end() ? MPI_UNDEFINED : 0, static_cast<int>(at - ranks.begin()), &part);
  if (part != MPI_COMM_NULL) {
    handle = std::make_shared<os::engine::device_mesh const>(os::engine::communicator(part), names, shape.sizes);
    MPI_Comm_free(&part);
  }
#else
  if (at != ranks.end())
    handle = std::make_shared<os::engine::device_mesh const>(os::engine::communicator(), names, shape.sizes);
#endif
  if (!handle)
    handle = std::make_shared<os::engine::device_mesh const>(os::engine::device_mesh::absent(names, shape.sizes));
  return {t::test_mesh(std::move(shape), handle), ranks};
}

std::vector<mesh_on_ranks> all_meshes() {
  int const n = t::ranks();
  std::vector<int> all;
  std::vector<int> odd;  // the odd ones, the last first
  for (int r = 0; r < n; ++r) all.push_back(r);
  std::vector<int> const reversed(all.rbegin(), all.rend());
  for (int r = n - 1; r > 0; --r)
    if (r % 2 == 1) odd.push_back(r);
  std::vector<mesh_on_ranks> meshes;
  for (t::mesh_shape const& shape : t::mesh_shapes()) meshes.push_back(make(shape, all));
  meshes.push_back(make(t::mesh_shapes().back(), reversed));
  if (n > 1) meshes.push_back(make({"YX", {static_cast<int>(odd.size()), 1}}, odd));
  if (n > 1) meshes.push_back(make({"XY", {1, 1}}, {n - 1}));
  if (n >= 4) meshes.push_back(make({"XY", {2, n / 4}}, {all.begin(), all.begin() + n / 4 * 2}));
  if (n >= 3) meshes.push_back(make({"XY", {1, n - 1}}, {all.begin() + 1, all.end()}));
  return meshes;
}

bool has_all_of(mesh_on_ranks const& large, mesh_on_ranks const& small) {
  return std::all_of(small.ranks.begin(), small.ranks.end(), [&](int r) { return large.device_of(r) >= 0; });
}

template <class Tensor>
bool holds_values(mesh_on_ranks const& m, int device) {
  return t::summand_on(t::placement_of<Tensor>(), m.mesh, device).number == 0;
}

template <class Tensor>
Tensor placed_on(mesh_on_ranks const& m, t::global_tensor<typename Tensor::value_type> const& g) {
  using value = typename Tensor::value_type;
  std::array<std::int64_t, Tensor::rank> extents{};
  for (std::size_t d = 0; d < extents.size(); ++d) extents[d] = g.extents.at(t::letters_in<Tensor>()[d]);
  Tensor const a = os::detail::allocate<Tensor>(m.mesh.handle(), extents);
  int const device = m.device_of(t::rank());
  if (device < 0) return a;
  auto const part = t::summand_on(t::placement_of<Tensor>(), m.mesh, device);
  std::vector<value> elements;
  for (std::size_t at : t::positions_on(t::placement_of<Tensor>(), m.mesh, g.labels, g.extents, device)) {
    value const share = t::whole_number<value>(static_cast<std::int64_t>(elements.size()) % 5 + 1);
    value v = part.number > 0 ? share : g.values[at];
    for (int other = 1; other < part.of && part.number == 0; ++other) v = static_cast<value>(v - share);
    elements.push_back(v);
  }
  REQUIRE(elements.size() == a.local().size());
  t::write_elements(elements, a.local().data());
  return a;
}

// The number of wrong elements on this rank; −1 for a block of other extents.
template <class Tensor>
std::int64_t disagreements_on(mesh_on_ranks const& m, Tensor const& a,
                              t::global_tensor<typename Tensor::value_type> const& g) {
  using value = typename Tensor::value_type;
  int const device = m.device_of(t::rank());
  if (device < 0) return Tensor::rank > 0 && a.local().size() != 0 ? -1 : 0;
  if (!t::detail::has_extents(a.local(), t::block_on<Tensor>(m.mesh, g.extents, device))) return -1;
  std::vector<value> const got = t::read_elements<value>(a.local().data(), a.local().size());
  std::int64_t wrong = 0;
  std::size_t i = 0;
  for (std::size_t at : t::positions_on(t::placement_of<Tensor>(), m.mesh, g.labels, g.extents, device))
    wrong += got[i++] == (holds_values<Tensor>(m, device) ? g.values[at] : value(0)) ? 0 : 1;
  return wrong;
}

// Elements that ranks need under `To` and do not have under `From`.
template <class From, class To>
std::int64_t elements_lacking(mesh_on_ranks const& a, mesh_on_ranks const& b, t::extents_by_letter const& e) {
  std::int64_t lacking = 0;
  for (int r = 0; r < t::ranks(); ++r) {
    if (b.device_of(r) < 0 || !holds_values<To>(b, b.device_of(r))) continue;
    auto const to = t::block_on<To>(b.mesh, e, b.device_of(r));
    std::vector<t::index_range> from;
    if (a.device_of(r) >= 0) from = t::block_on<From>(a.mesh, e, a.device_of(r));
    std::int64_t needed = 1;
    std::int64_t there = a.device_of(r) >= 0 ? 1 : 0;
    for (std::size_t d = 0; d < to.size(); ++d) {
      needed *= to[d].end - to[d].begin;
      if (from.empty()) continue;
      t::index_range const held = from[t::letters_in<From>().find(t::letters_in<To>()[d])];
      there *= std::max<std::int64_t>(0, std::min(to[d].end, held.end) - std::max(to[d].begin, held.begin));
    }
    lacking += needed - there;
  }
  return lacking;
}

int checked = 0;

template <class T, auto... DimsFrom, auto... DimsTo>
void check(mesh_on_ranks const& a, mesh_on_ranks const& b, t::extents_by_letter const& e, dims<DimsFrom...>,
           dims<DimsTo...>) {
  using from = os::tensor<T, DimsFrom...>;
  using to = os::tensor<T, DimsTo...>;
  using value = typename from::value_type;
  auto const whole = t::whole_numbers<value>(t::letters_in<from>(), e, 8);
  auto const source = placed_on<from>(a, whole);
  os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(b.mesh.handle());
  auto const plan = os::reshard_plan<DimsTo...>(source, mesh);
  to target;
  t::traffic const moved = t::traffic_of([&] { target = os::reshard<DimsTo...>(source, mesh); });
  INFO(a.text(), b.text(), t::text_of(e), os::describe(source), " to ", os::describe(target));
  CHECK(disagreements_on(b, target, whole) == 0);
  if (a.device_of(t::rank()) < 0 && b.device_of(t::rank()) < 0) {
    CHECK(plan.total_bytes() == 0);
  } else {
    CHECK(moved.bytes == plan.total_bytes());
    if constexpr (os::sharding_traits<os::sharding_in<from>>::partials::size == 0)
      CHECK(moved.bytes == elements_lacking<from, to>(a, b, e) * static_cast<std::int64_t>(sizeof(value)));
  }
  CHECK(target.mesh_handle() == b.mesh.handle());
  ++checked;
}

template <class F>
void on_pairs_of_meshes(F&& f) {
  std::vector<mesh_on_ranks> const meshes = all_meshes();
  for (mesh_on_ranks const& a : meshes)
    for (mesh_on_ranks const& b : meshes)
      if (has_all_of(a, b) || has_all_of(b, a)) f(a, b);
}

template <class T, class... To>
struct targets {
  template <class... From>
  static void from(mesh_on_ranks const& a, mesh_on_ranks const& b, t::extents_by_letter const& e) {
    (to_all<From>(a, b, e), ...);
  }
  template <class From>
  static void to_all(mesh_on_ranks const& a, mesh_on_ranks const& b, t::extents_by_letter const& e) {
    (check<T>(a, b, e, From{}, To{}), ...);
  }
};

}  // namespace

TEST_CASE("matrices") {
  using all = targets<double, dims<I, J>, dims<I/X, J>, dims<I/X, J/Y>, dims<I/Y/X, J>, dims<I/Y, J, partial(X)>>;
  on_pairs_of_meshes([](mesh_on_ranks const& a, mesh_on_ranks const& b) {
    for (t::extents_by_letter const& e : t::usual_extents())
      all::from<dims<I, J>, dims<I/X, J/Y>, dims<I, J/X>, dims<I/X/Y, J>, dims<I, J, partial(X)>,
                dims<I, J/Y, partial(X)>>(a, b, e);
  });
  CHECK(checked > 0);
}

TEST_CASE("another order of axes") {
  on_pairs_of_meshes([](mesh_on_ranks const& a, mesh_on_ranks const& b) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<float>(a, b, e, dims<I/X, J>{}, dims<J/X, I/Y>{});
      check<double>(a, b, e, dims<I, J/Y, partial(X)>{}, dims<J/Y, I/X>{});
      check<double>(a, b, e, dims<B/X, I/Y, J>{}, dims<J, B/Y, I, partial(X)>{});
    }
  });
}

TEST_CASE("scalars") {
  on_pairs_of_meshes([](mesh_on_ranks const& a, mesh_on_ranks const& b) {
    check<float>(a, b, {}, dims<>{}, dims<>{});
    check<float>(a, b, {}, dims<partial(X, Y)>{}, dims<>{});
    check<std::int64_t>(a, b, {}, dims<>{}, dims<partial(Y)>{});
  });
}

TEST_CASE("three axes and other elements") {
  on_pairs_of_meshes([](mesh_on_ranks const& a, mesh_on_ranks const& b) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<std::complex<double>>(a, b, e, dims<B/X, I/Y, J>{}, dims<B, I/X, J/Y>{});
      check<std::int32_t>(a, b, e, dims<B, I/Y/X, J>{}, dims<B/Y, I, J/X>{});
    }
  });
}

namespace {

using ranks = std::vector<int>;

// Every rank of either mesh throws this, the others go on.
void check_refused(mesh_on_ranks const& a, mesh_on_ranks const& b, std::string const& text) {
  auto const source = os::zeros<float, I/X>(os::mesh<X_mesh>(a.mesh.handle()), I = 7);
  os::mesh<X_mesh> const mesh(b.mesh.handle());
  auto const refused = [&] { static_cast<void>(os::reshard<I>(source, mesh)); };
  if (a.device_of(t::rank()) >= 0 || b.device_of(t::rank()) >= 0)
    CHECK_THROWS_WITH_AS(refused(), text.c_str(), os::error);
  else
    CHECK(os::reshard<I>(source, mesh).local().size() == 0);
}

mesh_on_ranks line_of(ranks const& r) { return make({"X", {static_cast<int>(r.size())}}, r); }

std::string unrelated(int a, int b) {
  return "reshard: of two meshes one has all processes of the other, but X=" + std::to_string(a) +
         " and X=" + std::to_string(b) +
         " overlap or lie apart; split the communicator of one from the other's, or go by way of a mesh of all "
         "processes";
}

}  // namespace

TEST_CASE("meshes that overlap or lie apart are refused on all their processes") {
  if (t::ranks() >= 2) check_refused(line_of({0}), line_of({1}), unrelated(1, 1));
  if (t::ranks() >= 3) {
    check_refused(line_of({0, 1}), line_of({2}), unrelated(2, 1));
    check_refused(line_of({2}), line_of({1, 0}), unrelated(2, 1));
    check_refused(line_of({0, 1}), line_of({1, 2}), unrelated(2, 2));
  }
  if (t::ranks() >= 4) check_refused(line_of({0, 1, 2}), line_of({2, 3}), unrelated(3, 2));
}

TEST_CASE("several meshes in the place of one are refused") {
  int const n = t::ranks();
  if (n == 1) return;
  auto const all = os::make_mesh(X = n);
  auto const own = os::make_mesh(os::this_device, X = 1);
  auto const a = os::zeros<float, I/X>(all, I = 7);
  std::string const text =
      "reshard: every device of a mesh is one process, but " + std::to_string(n) +
      " processes say that they are device 0 of the smaller one, X=1; where they made meshes of their own, mean one "
      "of them and make it os::not_here on the others";
  CHECK_THROWS_WITH_AS(static_cast<void>(os::reshard<I>(a, own)), text.c_str(), os::error);
  auto const nobodys = os::make_mesh(os::not_here, X = 1);
  CHECK_THROWS_AS(static_cast<void>(os::reshard<I>(a, nobodys)), os::error);
}

TEST_CASE("other sizes where the mesh is absent are refused") {
  if (t::ranks() < 3) return;
  auto const all = os::make_mesh(X = t::ranks());
  auto const first = t::rank() == 0 ? os::make_mesh(os::this_device, X = 1, Y = 1)
                                    : os::make_mesh(os::not_here, X = 1, Y = t::rank() == 1 ? 2 : 1);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::reshard<I>(os::zeros<float, I/X>(all, I = 7), first)),
      "reshard: all processes name the same meshes, but process 1 gives the smaller one other axes or sizes than "
      "process 0; give make_mesh the same sizes everywhere, also where the mesh is absent",
      os::error);
}

TEST_CASE("an empty handle is refused") {
  os::tensor<float, I/X> const empty;
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::reshard<I>(empty, os::make_mesh(X = t::ranks()))),
      "reshard: an operand is an empty handle; make it with os::zeros, os::generate, … or assign a tensor to it first",
      os::error);
}

TEST_CASE("two meshes agree once on who is who") {
  mesh_on_ranks const all = line_of([] {
    ranks r;
    for (int n = 0; n < t::ranks(); ++n) r.push_back(n);
    return r;
  }());
  mesh_on_ranks const last = line_of({t::ranks() - 1});
  auto const a = os::zeros<float, I>(os::mesh<X_mesh>(last.mesh.handle()), I = 7);
  os::mesh<X_mesh> const mesh(all.mesh.handle());
  os::mesh_reshard_plan const plan = os::reshard_plan<I/X>(a, mesh);
  CHECK(plan.steps().empty());
  CHECK(plan.total_bytes() == plan.exchanged_bytes());
  CHECK(plan.total_bytes() == 4 * (7 - (7 - (t::ranks() - 1) * 7 / t::ranks())));  // the last block stays
  CHECK(t::traffic_of([&] { static_cast<void>(os::reshard_plan<I/X>(a, mesh)); }).calls == 0);
  t::traffic const moved = t::traffic_of([&] { static_cast<void>(os::reshard<I/X>(a, mesh)); });
  CHECK(moved.bytes == plan.total_bytes());
  CHECK(moved.calls ==
        (t::ranks() == 8 ? 6 : t::ranks() - 1));  // a message for each block that is not there yet and not empty
}

TEST_CASE("partial maxima are reduced to maxima, and made of what changes no maximum") {
  using from = os::tensor<double, I, os::partial_max(X)>;
  on_pairs_of_meshes([](mesh_on_ranks const& a, mesh_on_ranks const& b) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const whole = t::whole_numbers<double>("I", e, 4);
      from const source = os::detail::allocate<from>(a.mesh.handle(), {e.at('I')});
      if (int const device = a.device_of(t::rank()); device >= 0)
        t::change_block(source, [&](auto const& block) {  // the devices along X take turns in holding the maximum
          for (std::size_t i = 0; i < block.extent(0); ++i) {
            bool const holds = static_cast<int>(i) % a.mesh.size("X") == a.mesh.coordinate("X", device);
            block(i) = whole.values[i] - (holds ? 0 : 5);
          }
        });
      os::mesh<X_mesh, Y_mesh> const mesh(b.mesh.handle());
      auto const maxima = os::reshard<I/X>(source, mesh);
      auto const partial_maxima = os::reshard<I/X, os::partial_max(Y)>(source, mesh);
      CHECK(disagreements_on(b, maxima, whole) == 0);
      int const device = b.device_of(t::rank());
      if (device < 0) continue;
      auto const of_all = t::host_block(maxima), of_parts = t::host_block(partial_maxima);
      for (std::size_t i = 0; i < of_all.extent(0); ++i)
        CHECK(of_parts(i) ==
              (b.mesh.coordinate("Y", device) == 0 ? of_all(i) : -std::numeric_limits<double>::infinity()));
    }
  });
}
