// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::fft<I, K>(A)`, `os::ifft`, `os::rfft`, `os::irfft`: discrete Fourier transforms along an axis I, named
/// as it lies, which becomes K. As in NumPy, inverse transforms have the factor 1/n, and the spectrum of real numbers
/// has n/2 + 1 elements. fourier_layout.hpp has the moves.
///
///     fft<I, K>             [I, J_X]   → [K, J_X]    nothing moves
///     fft<I/X, K/X>         [I_X, J]   → [K_X, J]    two all-to-alls
///     fft<I/X, K, J/X>      [I_X, J]   → [K, J_X]    one all-to-all

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/blocks/transform_block.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/fourier/fourier_layout.hpp>
#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

/// The extent of the result of a transform of length n.
[[nodiscard]] constexpr std::int64_t extent_of_spectrum(fourier_kind kind, std::int64_t n) {
  return has_half_spectrum(kind) ? n / 2 + 1 : n;
}

/// Extents by name, including those of the result. That of a real result is given by name.
template <fourier_kind Kind, class I, class K, class Sizes>
struct sizes_with_spectrum {
  Sizes const& sizes;

  template <class Label>
  [[nodiscard]] constexpr std::int64_t of() const {
    if constexpr (std::is_same_v<Label, K> && has_real_result(Kind) && K::extent != dynamic_extent)
      return K::extent;
    else if constexpr (std::is_same_v<Label, K> && !has_real_result(Kind))
      return extent_of_spectrum(Kind, sizes.template of<I>());
    else if constexpr (std::is_same_v<Label, K> && requires { sizes.template made<K>(); })
      return sizes.template made<K>();
    else
      return sizes.template of<Label>();
  }
  template <class... Ms>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    return sizes.template side_by_side<Ms...>();
  }
};

/// The two reshards of a transform.
template <fourier_kind Kind, class Along, class Named, class A>
struct parts_of_fourier {
  using layout = fourier_layout<Along, Named, A>;
  using element = typename fourier_element<Kind, typename A::value_type>::type;
  using spectrum = basic_tensor<element, varying_as_one<typename layout::rows_behind, A>, typename A::space>;
  using before = moves_of_reshard<A, varying_as_one<typename layout::rows, A>>;
  template <class Sizes>
  using with_spectrum = sizes_with_spectrum<Kind, typename layout::I, typename layout::K, Sizes>;
  using behind = moves_of_lifted<moves_of_reshard<spectrum, varying_as_one<typename layout::target, A>>, with_spectrum>;
  using type = moves_in_turn<before, behind>;
};

[[noreturn, gnu::cold]] inline void throw_other_spectrum(char const* operation, std::string_view from,
                                                         std::int64_t there, std::string_view to, std::int64_t n) {
  throw_error(operation, ": n numbers are made of a spectrum of n/2 + 1, but ", to, " = ", n, " was asked for and ",
              from, " = ", there, "; give the number that os::rfft had, ", 2 * there - 2, " or ", 2 * there - 1);
}

[[noreturn, gnu::cold]] inline void throw_other_static_extent(char const* operation, std::string_view to,
                                                              std::int64_t only, std::int64_t made) {
  throw_error(operation, ": the result has ", made, " numbers along ", to, ", whose static extent is ", only,
              "; name an axis without a static extent, or one of this extent");
}

template <class Asked, class... Given>
struct length_verdict {
  using type = typename decltype(check_extents_given<false>(Asked{}, type_list<Given...>{}))::type;
};
template <class Asked>
struct length_verdict<Asked, fourier_length> {
  using type = reason::ok;
};

template <class K, class... Given>
std::int64_t length_given(char const* operation, Given const&... given) {
  return checked_extent<false, K>(collect_sizes(given...), operation);
}
template <class K>
std::int64_t length_given(char const*, fourier_length const& given) {
  return given.n;
}

/// The same tensor, resharded if it has another sharding.
template <class To, class A>
auto moved_to(A const& a) {
  if constexpr (std::is_same_v<sharding_in<A>, varying_as_one<To, A>>)
    return a;
  else
    return operate(ostraka::operation::reshard<To>{}, a);
}

/// The tensor that holds the transform of `a`: its own memory if `overwrites` and nothing else holds that, else new.
template <fourier_kind Kind, class I, class K, class A>
auto make_transformed(char const* name, A const& a, std::int64_t n, bool overwrites) {
  using element = typename fourier_element<Kind, typename A::value_type>::type;
  constexpr bool fits =
      (Kind == fourier_kind::fft || Kind == fourier_kind::ifft) && std::is_same_v<element, typename A::element_type>;
  using result_type = decltype(make_with_axis<element, I, K>(name, a, n));
  if constexpr (fits)
    if (overwrites && engine::holders_of(a.local()) == 1) return result_type(a.mesh_handle(), a.extents(), a.local());
  return make_with_axis<element, I, K>(name, a, extent_of_spectrum(Kind, n));
}

/// The transform of rows that are whole.
template <fourier_kind Kind, class I, class K, class A>
auto transform_whole(char const* name, A const& a, std::int64_t n, bool overwrites) {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  engine::execution_context const w = context_of<labels, mesh>(name, a);
  auto result = make_transformed<Kind, I, K>(name, a, n, overwrites);
  if constexpr (varying_in<A>::size > 0 && !has_real_result(Kind)) {  // K has its extent from I's
    auto origins = a.origins();
    auto& origin = origins[static_cast<std::size_t>(position_in<I, labels>)];
    if (has_half_spectrum(Kind) && !origin.is_alike()) origin = {extent_origin::of_its_own};
    result.set_origins(origins);
  }
  engine::transform_block<real_of<typename A::value_type>>(execution_space_of<A>(), w, spec_of<A, labels, mesh>,
                                                           position_in<I, labels>, Kind, n, elements_of(a),
                                                           result.local().data());
  return result;
}

}  // namespace detail

namespace operation {

template <fourier_kind Kind, class Along, class Named>
struct fourier {
  static constexpr char const* name = name_of(Kind);
  template <class A>
  using layout = detail::fourier_layout<Along, Named, A>;

  bool is_temporary = false;  ///< the program keeps no handle of the operand, whose memory may take the result

  template <class A, class... Given>
  static consteval auto check() {
    using own = detail::fourier_verdict<fourier, Kind, Along, Named, A>;
    if constexpr (!std::is_same_v<own, reason::ok>) {
      return detail::found<own>{};
    } else {
      using K = typename layout<A>::K;
      using asked = std::conditional_t<has_real_result(Kind), type_list<K>, type_list<>>;
      using given = typename detail::length_verdict<asked, Given...>::type;
      if constexpr (!std::is_same_v<given, reason::ok> || varying_in<A>::size > 0)
        return detail::found<given>{};
      else
        return detail::check_static_extents<Kind, typename layout<A>::I, K, fourier>();
    }
  }
  template <class A, class... Given>
  using verdict = typename decltype(check<A, Given...>())::type;

  template <class A, class...>
  using moves = typename detail::parts_of_fourier<Kind, Along, Named, A>::type;

  template <class How, class A, class... Given>
  auto run(How const&, A const& a, Given const&... given) const {
    using I = typename layout<A>::I;
    using K = typename layout<A>::K;
    detail::common_mesh(name, a);
    std::int64_t const n = length_of(a, given...);
    if (std::int64_t const made = detail::extent_of_spectrum(Kind, n);
        varying_in<A>::size == 0 && K::extent != dynamic_extent && K::extent != made)
      detail::throw_other_static_extent(name, K::name, K::extent, made);
    using rows = detail::varying_as_one<typename layout<A>::rows, A>;
    if constexpr (std::is_same_v<sharding_in<A>, rows>)
      return detail::moved_to<typename layout<A>::target>(
          detail::transform_whole<Kind, I, K>(name, a, n, is_temporary));
    else
      return detail::moved_to<typename layout<A>::target>(
          detail::transform_whole<Kind, I, K>(name, detail::moved_to<typename layout<A>::rows>(a), n, true));
  }

 private:
  // The length n of the transform.
  template <class A, class... Given>
  [[nodiscard]] std::int64_t length_of(A const& a, Given const&... given) const {
    using K = typename layout<A>::K;
    std::int64_t const there = a.extents()[static_cast<std::size_t>(layout<A>::result::at)];
    if constexpr (has_real_result(Kind)) {
      std::int64_t const n = detail::length_given<K>(name, given...);
      if (n / 2 + 1 != there) detail::throw_other_spectrum(name, layout<A>::I::name, there, K::name, n);
      return n;
    } else {
      return there;
    }
  }
};

}  // namespace operation

/// y_k = Σ_j x_j e^(−2πi jk/n) along the axis I, named as it lies, which becomes K: `os::fft<I, K>(A)`. The result lies
/// as A does. `os::fft<I/X, K/X>(A)` says how K lies, `os::fft<I/X, K, J/X>(A)` how the whole result does. Real numbers
/// are taken as complex ones. Collective over the mesh axes that are named.
template <auto Along, auto... To, TensorOrVariable A>
[[nodiscard]] constexpr auto fft(A const& a) {
  return detail::operate(operation::fourier<fourier_kind::fft, detail::type_of<Along>, sharding_of<To...>>{}, a);
}

/// The same. The result takes the memory of a complex operand that nothing else holds: os::fft<…>(std::move(A)).
template <auto Along, auto... To, Tensor A>
  requires(!std::is_reference_v<A> && !std::is_const_v<A>)
[[nodiscard]] constexpr auto fft(A&& a) {
  return detail::operate(operation::fourier<fourier_kind::fft, detail::type_of<Along>, sharding_of<To...>>{true}, a);
}

/// y_k = (1/n) Σ_j x_j e^(2πi jk/n): the inverse of os::fft.
template <auto Along, auto... To, TensorOrVariable A>
[[nodiscard]] constexpr auto ifft(A const& a) {
  return detail::operate(operation::fourier<fourier_kind::ifft, detail::type_of<Along>, sharding_of<To...>>{}, a);
}

/// The same. The result takes the memory of a complex operand that nothing else holds: os::ifft<…>(std::move(A)).
template <auto Along, auto... To, Tensor A>
  requires(!std::is_reference_v<A> && !std::is_const_v<A>)
[[nodiscard]] constexpr auto ifft(A&& a) {
  return detail::operate(operation::fourier<fourier_kind::ifft, detail::type_of<Along>, sharding_of<To...>>{true}, a);
}

/// The first n/2 + 1 numbers of os::fft of real numbers; the others are their conjugates.
template <auto Along, auto... To, TensorOrVariable A>
[[nodiscard]] constexpr auto rfft(A const& a) {
  return detail::operate(operation::fourier<fourier_kind::rfft, detail::type_of<Along>, sharding_of<To...>>{}, a);
}

/// The inverse of os::rfft: n real numbers from n/2 + 1 complex ones, `os::irfft<I, K>(A, K = n)`. It needs n, since an
/// even and an odd n have as many. It ignores the imaginary part of the first number and, if n is even, of the last.
/// @throws ostraka::error, on all devices alike, if I does not have n/2 + 1 elements
template <auto Along, auto... To, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto irfft(A const& a, Given const&... given) {
  return detail::operate(operation::fourier<fourier_kind::irfft, detail::type_of<Along>, sharding_of<To...>>{}, a,
                         given...);
}

}  // namespace ostraka
