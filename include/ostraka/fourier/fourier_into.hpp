// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::fft_into<I/X>(C, A)` and its variants: the transform of A under the sharding of C, into an existing
/// tensor. A program that transforms the same arrays repeatedly allocates nothing.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/fourier/fourier_transform.hpp>

namespace ostraka {

namespace detail {

[[noreturn, gnu::cold]] inline void throw_other_extent_of_target(char const* operation, std::string_view axis,
                                                                 std::int64_t made, std::int64_t there) {
  throw_error(operation, ": the result has ", made, " numbers along ", axis,
              ", but the tensor that it is written to has ", there, "; make that one with the extents of the result");
}

template <class Operation, fourier_kind Kind, class Along, class C, class A>
consteval auto check_fourier_into() {
  using Named = sharding_in<C>;
  using made = typename fourier_element<Kind, typename A::value_type>::type;
  using own = first_fault<writable_verdict<C>, no_block_verdict<C, Operation>, no_block_verdict<A, Operation>,
                          fourier_verdict<Operation, Kind, Along, Named, A>,
                          element_type_verdict<typename C::value_type, made>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using layout = fourier_layout<Kind, Along, Named, A>;
    if constexpr (!std::is_same_v<typename layout::target, Named>)
      return found<reason::transform_axes_mismatch<sharding_in<A>, Named, Operation>>{};
    else
      return check_static_extents<Kind, Operation>(typename layout::Is{}, typename layout::Ks{});
  }
}

template <fourier_kind Kind, class Along, class Named, class C, class A>
struct written_to<operation::fourier<Kind, Along, Named>, C, A> {
  using transform = operation::fourier<Kind, Along, Named>;
  using verdict = typename decltype(check_fourier_into<transform, Kind, Along, C, A>())::type;

  static void run(transform const& operation, C const& c, A const& a) {
    using layout = typename transform::template layout<A>;
    engine::device_mesh const* const meshes[] = {a.mesh_handle().get(), c.mesh_handle().get()};
    common_mesh(transform::name, meshes, 2);
    engine::execution_context const w = context_of<axes_in<A>, mesh_axes_in<A>>(transform::name, a);
    memory_range const read = memory_of(a);
    refuse_shared_memory(w, engine::steps_ahead(), "os::fft", memory_of(c), &read, 1);
    std::int64_t const n = has_real_result(Kind) ? extent<typename transform::template last_made<A>>(c)
                                                 : extent<typename transform::template last_axis<A>>(a);
    require_extents(c, a, n, typename layout::Is{}, typename layout::Ks{});
    if constexpr (has_real_result(Kind))
      operation.run(into<C>{c}, a, fourier_length{n});
    else
      operation.run(into<C>{c}, a);
  }

 private:
  template <class I, class T>
  static std::int64_t extent(T const& t) {
    return t.extents()[static_cast<std::size_t>(position_in<I, axes_in<T>>)];
  }
  template <class... Is, class... Ks>
  static void require_extents(C const& c, A const& a, std::int64_t n, type_list<Is...>, type_list<Ks...>) {
    auto const require = [](std::string_view axis, std::int64_t made, std::int64_t there) {
      if (made != there) throw_other_extent_of_target(transform::name, axis, made, there);
    };
    (require(Ks::name, transform::template extent_made<Is, Ks>(a, n), extent<Ks>(c)), ...);
    [&]<class... Batch>(type_list<Batch...>) {
      (require(Batch::name, extent<Batch>(a), extent<Batch>(c)), ...);
    }(difference_of<axes_in<A>, type_list<Is...>>{});
  }
};

template <fourier_kind Kind, class Along, class C, class A>
constexpr void transform_into(C const& c, A const& a) {
  operate_how(into<C>{c}, ostraka::operation::fourier<Kind, Along, sharding_in<C>>{}, a);
}

}  // namespace detail

/// C <- os::fft of A under the sharding of C, which is an existing tensor: `os::fft_into<I/X>(C, A)`. Collective over
/// the mesh axes that both name.
/// @throws ostraka::error, on all devices alike, if C has other extents than the result, or is A
template <auto Along, TensorOrVariable C, TensorOrVariable A>
void fft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::fft, detail::type_of<Along>>(c, a);
}

/// The same along several axes: `os::fft_into<os::dims<I/X, J>>(C, A)`.
template <class Along, TensorOrVariable C, TensorOrVariable A>
void fft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::fft, Along>(c, a);
}

/// C <- os::ifft of A, as os::fft_into.
template <auto Along, TensorOrVariable C, TensorOrVariable A>
void ifft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::ifft, detail::type_of<Along>>(c, a);
}

/// The same along several axes: `os::ifft_into<os::dims<KI, KJ>>(C, A)`.
template <class Along, TensorOrVariable C, TensorOrVariable A>
void ifft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::ifft, Along>(c, a);
}

/// C <- os::rfft of A, as os::fft_into.
template <auto Along, TensorOrVariable C, TensorOrVariable A>
void rfft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::rfft, detail::type_of<Along>>(c, a);
}

/// The same along several axes: `os::rfft_into<os::dims<I/X, J>>(C, A)`.
template <class Along, TensorOrVariable C, TensorOrVariable A>
void rfft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::rfft, Along>(c, a);
}

/// C <- os::irfft of A, as os::fft_into. The extent of the axis of C is n.
template <auto Along, TensorOrVariable C, TensorOrVariable A>
void irfft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::irfft, detail::type_of<Along>>(c, a);
}

/// The same along several axes: `os::irfft_into<os::dims<KI, KJ>>(C, A)`.
template <class Along, TensorOrVariable C, TensorOrVariable A>
void irfft_into(C const& c, A const& a) {
  detail::transform_into<fourier_kind::irfft, Along>(c, a);
}

}  // namespace ostraka
