// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Shapes, indices and transforms: the `moves` of operations, or what they say of a call that a number decides, equal
/// the figures of a dry mesh (predicted.hpp).
// ranks: 1
// sham:

#include <cstdint>

#include <ostraka/fft.hpp>

#include "support/on_meshes.hpp"
#include "surface/costs/predicted.hpp"

namespace os = ostraka;
namespace operation = os::operation;

using os::testing::doubles;
using os::testing::least_extents;
using os::testing::moves_what_it_says;
using os::testing::named_dim;
using os::testing::to;

TEST_CASE("other shapes in the same place move nothing") {
  using a = os::type_list<doubles<I/X, J>>;
  using b = os::type_list<doubles<L/X, K>>;
  moves_what_it_says(operation::broadcast<to<K, I/X, J>>{{}, {3, 0, 0}, {}}, a{});
  moves_what_it_says(operation::transpose<J_axis, I_axis>{}, a{});
  moves_what_it_says(operation::split<L_axis, I_axis, J_axis>{{}, 6, 1}, b{});
  moves_what_it_says(operation::merge<L_axis, K_axis, I_axis>{}, b{});
  moves_what_it_says(operation::stack<to<K>>{{}, 2}, a{});
  moves_what_it_says(operation::stack_next<K_axis>{{}, 1}, os::type_list<doubles<K, I/X, J>, doubles<I/X, J>>{});
  moves_what_it_says(operation::dropout{{}, 0.5, os::seed(1)}, a{});
  moves_what_it_says(operation::triangle<true, I_axis, J_axis>{}, a{});
  moves_what_it_says(least_extents{0, 2}, operation::write_at<named_dim<J>>{{}, 1},
                     os::type_list<doubles<I/X, J>, doubles<I/X>>{});
}

TEST_CASE("indices of an axis in another order") {
  using a = os::type_list<doubles<I/X, J/Y>>;
  moves_what_it_says(operation::flip<named_dim<J>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::flip<named_dim<I/X>>{}, a{});
  moves_what_it_says(operation::flip<named_dim<I/X / Y>>{}, os::type_list<doubles<I/X / Y, J>>{});
  moves_what_it_says(operation::roll<named_dim<J>>{{}, 1}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says<false>(operation::roll<named_dim<I/X>>{{}, 2}, a{});
  moves_what_it_says<false>(least_extents{0, 4}, operation::window<named_dim<J/Y>>{{}, 1, 4, 2}, a{});
  moves_what_it_says<false>(operation::spread<named_dim<I/X>>{{}, 0, 1, 7}, a{});
  moves_what_it_says<false>(operation::pad<named_dim<I/X>>{{}, 1, 2, {}}, a{});
  moves_what_it_says<false>(operation::concatenate<named_dim<I/X>>{},
                            os::type_list<doubles<I/X, J>, doubles<I/X, J>>{});
}

namespace {

template <auto... Dims>
using numbers = os::tensor<std::int64_t, Dims...>;
using os::detail::promised_range;

}  // namespace

TEST_CASE("rows by number") {
  moves_what_it_says(operation::take<J_axis>{}, os::type_list<doubles<J, K/Y>, numbers<I/X>>{});
  moves_what_it_says(operation::take<J_axis, to<I/X, K>>{}, os::type_list<doubles<J/X, K>, numbers<I/X>>{});
  moves_what_it_says(operation::take<J_axis, to<I, K>>{}, os::type_list<doubles<J/Y, K/X>, numbers<I/X>>{});
  moves_what_it_says(operation::take<J_axis, to<I, K/Y>, promised_range>{},
                     os::type_list<doubles<J, K/Y>, numbers<I/Y>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J/X, K>>{{4}}, os::type_list<doubles<I, K>, numbers<I>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J/X, K>>{{5}},
                     os::type_list<doubles<I/X, K>, numbers<I/X>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J, K>, promised_range>{{3}},
                     os::type_list<doubles<I/X, K/Y>, numbers<I/Y>>{});
  moves_what_it_says(operation::segment_sum<J_axis, to<J>>{{2}}, os::type_list<doubles<I/X>, numbers<I/X>>{});
  moves_what_it_says(operation::take_at<K_axis>{1}, os::type_list<doubles<I/X, K>>{});
  moves_what_it_says(operation::take_at<K_axis, to<I/Y>>{1}, os::type_list<doubles<I, K/X>>{});
  moves_what_it_says(operation::put_at<K_axis, to<I, K/X>>{1, 3}, os::type_list<doubles<I/Y>>{});
  moves_what_it_says(operation::one_hot<double, named_dim<K/Y>>{3}, os::type_list<numbers<I/X>>{});
  moves_what_it_says(operation::one_hot<double, named_dim<K>, promised_range>{3}, os::type_list<numbers<I/X>>{});
}

TEST_CASE("the largest of a divided axis") {
  moves_what_it_says<false>(least_extents{0, 2}, operation::top_k<named_dim<J/Y>, K_axis>{},
                            os::type_list<doubles<I/X, J/Y>>{}, K = 2);
}

TEST_CASE("Fourier transforms") {
  using kind = os::fourier_kind;
  using divided = os::tensor<Kokkos::complex<double>, I/X, J>;
  using real = doubles<I/X, J>;
  moves_what_it_says(operation::fourier<kind::fft, named_dim<J>, to<K>>{}, os::type_list<divided>{});
  moves_what_it_says(operation::fourier<kind::fft, named_dim<I/X>, to<K/X>>{}, os::type_list<divided>{});
  moves_what_it_says(operation::fourier<kind::rfft, named_dim<I/X>, to<K, J/X>>{}, os::type_list<real>{});
  moves_what_it_says(operation::fourier<kind::rfft, os::dims<I/X, J>, to<K/X, L>>{}, os::type_list<real>{});
}

TEST_CASE("real numbers of a spectrum, also along an axis of the same name") {
  operation::fourier<os::fourier_kind::irfft, named_dim<I/X>, to<I/X>> const same{};
  operation::fourier<os::fourier_kind::irfft, named_dim<I/X>, to<K/X>> const other{};
  for (std::int64_t const x : {1, 2, 3})
    for (std::int64_t const i : {1, 2, 3, 4})
      for (std::int64_t const n : {2 * i - 2, 2 * i - 1}) {
        CAPTURE(x);
        CAPTURE(i);
        CAPTURE(n);
        os::testing::costs_of_devices of_same, of_other;
        for (std::int64_t d = 0; d < x; ++d) {
          auto const mesh = os::dry_mesh(os::as_device(d), X = x);
          using spectrum = os::tensor<Kokkos::complex<double>, I/X, J>;
          auto const a = os::zeros<spectrum>(mesh, I = i, J = 3);
          using length = decltype(I = n);
          of_same.count(mesh, os::testing::call<true, decltype(same), spectrum, length>{same, {a, I = n}});
          using named = decltype(K = n);
          of_other.count(mesh, os::testing::call<true, decltype(other), spectrum, named>{other, {a, K = n}});
        }
        CHECK(of_same.predicted == (of_same.sent + x - 1) / x);
        CHECK(of_other.predicted == (of_other.sent + x - 1) / x);
      }
}
