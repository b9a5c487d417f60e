// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Terms of the doubles equation of coupled-cluster theory (CCSD, in spin orbitals: Crawford and Schaefer, 2000),
/// written as on paper, on meshes of two and of three axes: a, b, c, d are virtual orbitals, i, j, k, l occupied ones.
///
///     particle ladder   ½ v[a,b,c,d] · t[c,d,i,j]
///     hole ladder       ½ v[k,l,i,j] · t[a,b,k,l]
///     rings             P(ab) P(ij)  v[k,b,c,j] · t[a,c,i,k]        P(ab) x[a,b] = x[a,b] − x[b,a]
///     quadratic         ¼ (v[k,l,c,d] · t[c,d,i,j]) · t[a,b,k,l]
///     singles           −P(ij)  ((v[k,l,c,d] · t[c,k]) · t[d,i]) · t[a,b,l,j]
///
/// Each product is a line under rules that say how amplitudes, integrals and intermediates are divided. The program
/// prints and counts the bytes that it moves, and compares the elements of the terms with plain loops and their sums
/// with NumPy's (numpy_reference.py).
// ranks: 1 4 8

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "numpy_reference.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

namespace ccsd {  // orbitals have names of one letter, as on paper

constexpr std::int64_t virtuals = 11, occupied = 5;

OSTRAKA_AXIS(a, virtuals);
OSTRAKA_AXIS(b, virtuals);
OSTRAKA_AXIS(c, virtuals);
OSTRAKA_AXIS(d, virtuals);
OSTRAKA_AXIS(i, occupied);
OSTRAKA_AXIS(j, occupied);
OSTRAKA_AXIS(k, occupied);
OSTRAKA_AXIS(l, occupied);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

/// Two mesh axes divide the virtual orbitals of amplitudes and integrals; a third one divides occupied orbitals, too.
constexpr os::rules<a/X, b/Y> two_axes;
constexpr os::rules<a/X, b/Y, c/Z, i/Z> three_axes;

using integer = std::int64_t;

/// Whole numbers from −2 to 2.
struct small {
  integer seed;
  KOKKOS_FUNCTION double operator()(integer p, integer q, integer r = 0, integer s = 0) const {
    return static_cast<double>((3 * p + 5 * q * q + 2 * p * q + 7 * r + 3 * s * s + r * s + p * s + q * r + seed) % 5 -
                               2);
  }
};

/// The same, antisymmetric in the first two and in the last two, as amplitudes and integrals are.
struct antisymmetric {
  integer seed;
  KOKKOS_FUNCTION double operator()(integer p, integer q, integer r, integer s) const {
    small const h{seed};
    return h(p, q, r, s) - h(q, p, r, s) - h(p, q, s, r) + h(q, p, s, r);
  }
};

constexpr small t1{1}, ovvo{5};
constexpr antisymmetric t2{2}, vvvv{3}, oooo{4}, oovv{6};

/// Runs one einsum: prints its plan, counts its bytes, returns its result.
template <auto Out, class... Operands>
auto term(char const* name, os::sizes<X_mesh, Y_mesh, Z_mesh> const& mesh, bool tells, bool& good,
          Operands const&... operands) {
  auto const plan = os::plan<Out>(operands...);
  decltype(os::einsum<Out>(operands...)) result;
  auto const moved = ostraka::testing::traffic_of([&] { result = os::einsum<Out>(operands...); });
  good = good && moved.bytes == plan.total_bytes(mesh);
  if (tells)
    std::printf("%s: %lld B counted on all devices\n%s\n", name, static_cast<long long>(moved.bytes),
                os::describe(plan, mesh).c_str());
  return result;
}

/// x[a,b,i,j] − x[b,a,i,j]
template <auto Out, class A>
auto without_exchange_of_virtuals(A const& x) {
  return os::subtract(x, os::einsum<Out>(os::relabel<b, a, i, j>(x)));
}

/// x[a,b,i,j] − x[a,b,j,i]
template <auto Out, class A>
auto without_exchange_of_occupied(A const& x) {
  return os::subtract(x, os::einsum<Out>(os::relabel<a, b, j, i>(x)));
}

/// True if the elements agree with those of plain loops and with NumPy's checksums.
template <class Gathered, class Loops>
bool agrees(char const* name, Gathered const& gathered, checksums const& numpys, Loops const& loops) {
  auto const& x = *gathered;
  double weighted = 0, squares = 0;
  integer position = 0, wrong = 0;
  for (integer p = 0; p < virtuals; ++p)
    for (integer q = 0; q < virtuals; ++q)
      for (integer r = 0; r < occupied; ++r)
        for (integer s = 0; s < occupied; ++s, ++position) {
          double const got = x(static_cast<std::size_t>(p), static_cast<std::size_t>(q), static_cast<std::size_t>(r),
                               static_cast<std::size_t>(s));
          wrong += got == loops(p, q, r, s) ? 0 : 1;
          weighted += got * static_cast<double>(position % 13 - 6);
          squares += got * got;
        }
  bool const same = wrong == 0 && weighted == numpys.weighted && squares == numpys.squares;
  std::printf("  %-16s %s\n", name, same ? "as loops and NumPy say" : "WRONG");
  return same;
}

/// The sum of f over an index.
template <class F>
double over(integer extent, F const& f) {
  double sum = 0;
  for (integer n = 0; n < extent; ++n) sum += f(n);
  return sum;
}

template <auto R, class Mesh>
bool run(Mesh const& mesh, os::sizes<X_mesh, Y_mesh, Z_mesh> const& sizes) {
  bool const tells = mesh.device() == 0;
  bool good = true;
  auto const V = os::generate<double, R(a, b, c, d)>(mesh, vvvv);
  auto const O = os::generate<double, R(k, l, i, j)>(mesh, oooo);
  auto const W = os::generate<double, R(k, b, c, j)>(mesh, ovvo);
  auto const M = os::generate<double, R(k, l, c, d)>(mesh, oovv);
  auto const T = os::generate<double, R(a, b, i, j)>(mesh, t2);
  auto const S = os::generate<double, R(a, i)>(mesh, t1);
  constexpr auto residual = R(a, b, i, j);

  auto const particle_ladder =
      os::scale(0.5, term<residual>("particle ladder", sizes, tells, good, V, os::relabel<c, d, i, j>(T)));
  auto const hole_ladder =
      os::scale(0.5, term<residual>("hole ladder", sizes, tells, good, O, os::relabel<a, b, k, l>(T)));
  auto const ring = term<residual>("ring", sizes, tells, good, W, os::relabel<a, c, i, k>(T));
  auto const rings = without_exchange_of_occupied<residual>(without_exchange_of_virtuals<residual>(ring));
  auto const ladders =
      term<R(k, l, i, j)>("quadratic, its intermediate", sizes, tells, good, M, os::relabel<c, d, i, j>(T));
  auto const quadratic =
      os::scale(0.25, term<residual>("quadratic", sizes, tells, good, ladders, os::relabel<a, b, k, l>(T)));
  auto const field = term<R(l, d)>("singles, their field", sizes, tells, good, M, os::relabel<c, k>(S));
  auto const dressed = term<R(l, i)>("singles, dressed", sizes, tells, good, field, os::relabel<d, i>(S));
  auto const single = term<residual>("singles", sizes, tells, good, dressed, os::relabel<a, b, l, j>(T));
  auto const singles = os::scale(-1, without_exchange_of_occupied<residual>(single));
  double const energy = 0.25 * os::value(os::einsum<>(M, os::relabel<c, d, k, l>(T)));

  auto const all_particles = os::gather_to_root(particle_ladder), all_holes = os::gather_to_root(hole_ladder);
  auto const all_rings = os::gather_to_root(rings), all_quadratic = os::gather_to_root(quadratic);
  auto const all_singles = os::gather_to_root(singles);
  if (!all_rings) return good;

  // Several indices share these intermediates: v[k,l,c,d] · t[c,d,i,j] and v[k,l,c,d] · t[c,k] · t[d,i].
  std::vector<double> intermediate(occupied * occupied * occupied * occupied), x(occupied * occupied);
  auto const at = [](integer k_, integer l_, integer i_, integer j_) {
    return static_cast<std::size_t>(((k_ * occupied + l_) * occupied + i_) * occupied + j_);
  };
  for (integer k_ = 0; k_ < occupied; ++k_)
    for (integer l_ = 0; l_ < occupied; ++l_)
      for (integer i_ = 0; i_ < occupied; ++i_)
        for (integer j_ = 0; j_ < occupied; ++j_)
          for (integer c_ = 0; c_ < virtuals; ++c_)
            for (integer d_ = 0; d_ < virtuals; ++d_) {
              intermediate[at(k_, l_, i_, j_)] += oovv(k_, l_, c_, d_) * t2(c_, d_, i_, j_);
              if (j_ == 0)
                x[static_cast<std::size_t>(l_ * occupied + i_)] += oovv(k_, l_, c_, d_) * t1(c_, k_) * t1(d_, i_);
            }

  auto const of_ring = [](integer p, integer q, integer r, integer s) {
    return over(occupied, [&](integer k_) {
      return over(virtuals, [&](integer c_) { return ovvo(k_, q, c_, s) * t2(p, c_, r, k_); });
    });
  };
  auto const of_single = [&](integer p, integer q, integer r, integer s) {
    return over(occupied, [&](integer l_) { return x[static_cast<std::size_t>(l_ * occupied + r)] * t2(p, q, l_, s); });
  };
  good = agrees("particle ladder", all_particles, numpy::particle_ladder,
                [](integer p, integer q, integer r, integer s) {
                  return 0.5 * over(virtuals, [&](integer c_) {
                           return over(virtuals, [&](integer d_) { return vvvv(p, q, c_, d_) * t2(c_, d_, r, s); });
                         });
                }) &&
         good;
  good = agrees("hole ladder", all_holes, numpy::hole_ladder,
                [](integer p, integer q, integer r, integer s) {
                  return 0.5 * over(occupied, [&](integer k_) {
                           return over(occupied, [&](integer l_) { return oooo(k_, l_, r, s) * t2(p, q, k_, l_); });
                         });
                }) &&
         good;
  good = agrees("rings", all_rings, numpy::rings,
                [&](integer p, integer q, integer r, integer s) {
                  return of_ring(p, q, r, s) - of_ring(q, p, r, s) - of_ring(p, q, s, r) + of_ring(q, p, s, r);
                }) &&
         good;
  good = agrees("quadratic", all_quadratic, numpy::quadratic,
                [&](integer p, integer q, integer r, integer s) {
                  return 0.25 * over(occupied, [&](integer k_) {
                           return over(occupied,
                                       [&](integer l_) { return intermediate[at(k_, l_, r, s)] * t2(p, q, k_, l_); });
                         });
                }) &&
         good;
  good = agrees("singles", all_singles, numpy::singles,
                [&](integer p, integer q, integer r, integer s) {
                  return of_single(p, q, s, r) - of_single(p, q, r, s);
                }) &&
         good;
  std::printf("  %-16s %g, %s\n\n", "energy", energy, energy == numpy::energy ? "as NumPy says" : "WRONG");
  return good && energy == numpy::energy;
}

bool run_on_all(os::environment const& env) {
  int const x = env.devices() % 2 == 0 ? 2 : 1, y = env.devices() / x % 2 == 0 ? 2 : 1, z = env.devices() / x / y;
  auto const flat = os::make_mesh(X = x, Y = y * z);
  auto const cube = os::make_mesh(X = x, Y = y, Z = z);
  if (flat.device() == 0) std::printf("On %d × %d devices:\n\n", x, y * z);
  bool good = run<two_axes>(flat, os::sizes(X = x, Y = y * z, Z = 1));
  if (flat.device() == 0) std::printf("On %d × %d × %d devices:\n\n", x, y, z);
  good = run<three_axes>(cube, os::sizes(X = x, Y = y, Z = z)) && good;
  if (flat.device() == 0) std::puts(good ? "PASS" : "FAIL");
  return good;
}

}  // namespace ccsd

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  return ccsd::run_on_all(env) ? 0 : 1;
}
