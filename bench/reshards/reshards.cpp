// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Reshards of slabs and pencils, of n³ or n² numbers: os::reshard_into against one MPI_Alltoallw with a type for each
/// pair of blocks (by_hand.hpp); and reshards to another order of axes against the same with types that transpose,
/// against a reshard and a transpose, and against os::einsum_into. The seconds are the slowest rank's.
///
///     mpirun -n 2 bench/reshards [rounds=15] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/operations.hpp>
#include <ostraka/ostraka.hpp>

#include "by_hand.hpp"
#include "job.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

using complex = Kokkos::complex<double>;

struct element_of {
  KOKKOS_FUNCTION complex operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return {static_cast<double>((7 * i + 3 * j + k) % 19), static_cast<double>((i * j + 5 * k) % 13)};
  }
  KOKKOS_FUNCTION complex operator()(std::int64_t i, std::int64_t j) const { return (*this)(i, j, 1); }
};

template <class Tensor>
bool same(Tensor const& a, Tensor const& b) {
  for (std::size_t n = 0; n < a.local().size(); ++n)
    if (a.local().data()[n] != b.local().data()[n]) return false;
  return true;
}

// The block of a tensor as plain MPI sees it: the ranges of indices by the number of the axis in `Axes`.
template <class Axes, class Tensor>
struct block_of;
template <class... Axes, class Tensor>
struct block_of<os::type_list<Axes...>, Tensor> {
  static bench::block here(Tensor const& t) {
    bench::block b;
    (b.dimensions.push_back({os::position_in<Axes, os::axes_in<Tensor>>,
                             t.range(os::position_in<Axes, os::axes_in<Tensor>>).begin,
                             t.range(os::position_in<Axes, os::axes_in<Tensor>>).end}),
     ...);
    return b;
  }
};

class cases {
 public:
  cases(bench::report& out, bench::arguments const& given) : out_(out), given_(given) {}

  template <class To, class A>
  void compare(std::string const& name, A const& a) {
    if (!given_.wants(name)) return;
    using axes = os::axes_in<A>;
    To const b = os::operation::reshard<os::sharding_in<To>>{}.run(os::detail::at_once{}, a);
    To const other = os::copy(b), by_einsum = os::copy(b);
    bench::blocks_by_hand by_hand(block_of<axes, A>::here(a), block_of<axes, To>::here(b));
    auto const types = [&] { by_hand.run(a.local().data(), other.local().data()); };
    auto const ours = [&] { os::reshard_into(b, a); };
    std::vector<bench::contestant> all = {{"os::reshard_into", ours}, {"MPI_Alltoallw", types}};
    if constexpr (!std::is_same_v<axes, os::axes_in<To>>) {
      all.push_back({"os::einsum_into", [&] { os::einsum_into(by_einsum, a); }});
      all.push_back({"reshard, transpose", [&] { turned_ = reshard_and_transpose<To>(a); }});
    }
    for (bench::contestant const& one : all) one.run();
    bench::comparison timed = bench::compare(name, all, given_.number("rounds", 15), bench::seconds_of_all);
    if (!same(b, other) || !same(b, by_einsum)) timed.remark = "DIFFERENT RESULTS";
    out_.add(timed);
  }

 private:
  template <class To, class A>
  static std::size_t reshard_and_transpose(A const& a) {
    static constexpr auto to = os::planner::reordered(os::spec_of<To, os::axes_in<A>, os::mesh_axes_in<To>>,
                                                      os::spec_of<A, os::axes_in<A>, os::mesh_axes_in<A>>);
    using straight = os::sharding_from<to, os::axes_in<A>, os::mesh_axes_in<To>>;
    auto const moved = os::operation::reshard<straight>{}.run(os::detail::at_once{}, a);
    auto const turned = [&]<class... Axes>(os::type_list<Axes...>) {
      return os::operation::transpose<Axes...>{}.run(os::detail::at_once{}, moved);
    }(os::axes_in<To>{});
    return turned.local().size();
  }

  bench::report& out_;
  bench::arguments const& given_;
  std::size_t turned_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bench::job job("reshards", argc, argv);
  cases all(job.out, job.given);
  int const y = job.ranks % 2 == 0 ? 2 : 1, x = job.ranks / y;
  auto const line = os::make_mesh(X = job.ranks);
  auto const grid = os::make_mesh(X = x, Y = y);
  for (int n : {32, 64, 128}) {
    std::string const cube = " of " + std::to_string(n) + "^3", square = " of " + std::to_string(8 * n) + "^2";
    auto const slabs = os::generate<complex, I/X, J, K>(line, I = n, J = n, K = n, element_of{});
    auto const pencils = os::generate<complex, I/X, J/Y, K>(grid, I = n, J = n, K = n, element_of{});
    auto const middle = os::generate<complex, I/X, J, K/Y>(grid, I = n, J = n, K = n, element_of{});
    auto const matrix = os::generate<complex, I/X, J>(line, I = 8 * n, J = 8 * n, element_of{});
    all.compare<os::tensor<complex, I, J/X, K>>("slabs [I_X,J,K]->[I,J_X,K]" + cube, slabs);
    all.compare<os::tensor<complex, I, J, K/X>>("slabs [I_X,J,K]->[I,J,K_X]" + cube, slabs);
    all.compare<os::tensor<complex, I/X, J, K/Y>>("pencils [I_X,J_Y,K]->[I_X,J,K_Y]" + cube, pencils);
    all.compare<os::tensor<complex, I/X, J/Y, K>>("pencils [I_X,J,K_Y]->[I_X,J_Y,K]" + cube, middle);
    all.compare<os::tensor<complex, I/X, K/Y, J>>("pencils [I_X,J_Y,K]->[I_X,K_Y,J]" + cube, pencils);
    all.compare<os::tensor<complex, J/X, I, K>>("slabs [I_X,J,K]->[J_X,I,K]" + cube, slabs);
    all.compare<os::tensor<complex, J/X, K, I>>("slabs [I_X,J,K]->[J_X,K,I]" + cube, slabs);
    all.compare<os::tensor<complex, I, J/X>>("matrix [I_X,J]->[I,J_X]" + square, matrix);
    all.compare<os::tensor<complex, J/X, I>>("matrix [I_X,J]->[J_X,I]" + square, matrix);
    all.compare<os::tensor<complex, J, I>>("matrix [I_X,J]->[J,I]" + square, matrix);
  }
}
