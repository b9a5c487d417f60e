// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::fft<I, K>(A)`, `os::ifft`, `os::rfft`, `os::irfft`: discrete Fourier transforms along an axis I, named
/// with the mesh axes that divide it, which becomes K; or along several axes, `os::fft<os::dims<I/X, J>, K, L/X>(A)`.
/// As in NumPy, inverse transforms have the factor 1/n, and the spectrum of real numbers has n/2 + 1 elements.
/// fourier_layout.hpp lists the moves.
///
///     fft<I, K>                        [I, J_X]   → [K, J_X]    nothing moves
///     fft<I/X, K/X>                    [I_X, J]   → [K_X, J]    two all-to-alls
///     fft<I/X, K, J/X>                 [I_X, J]   → [K, J_X]    one all-to-all
///     fft<dims<I/X, J>, K, L/X>        [I_X, J]   → [K, L_X]    one all-to-all

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/fourier/fourier_checks.hpp>
#include <ostraka/fourier/fourier_layout.hpp>
#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/fourier/fourier_run.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

/// Extents by name, including the extent of an axis K that I has become. The extent of a real result is given by name.
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

template <fourier_kind Kind, class I, class K>
struct with_spectrum {
  template <class Sizes>
  using type = sizes_with_spectrum<Kind, I, K, Sizes>;
};

/// The moves of a tensor in which the axes Is have become Ks. The axis `Last` has been transformed as `Kind` says.
template <class Moves, fourier_kind Kind, class Last, class Is, class Ks>
struct moves_of_spectrum {
  using type = Moves;
};
template <class Moves, fourier_kind Kind, class Last, class I, class... Is, class K, class... Ks>
struct moves_of_spectrum<Moves, Kind, Last, type_list<I, Is...>, type_list<K, Ks...>>
    : moves_of_spectrum<moves_of_lifted<Moves, with_spectrum<std::is_same_v<I, Last> ? Kind : complex_kind(Kind), I,
                                                             K>::template type>,
                        Kind, Last, type_list<Is...>, type_list<Ks...>> {};

/// The reshards of a transform: one before each stage, and one after the last.
template <fourier_kind Kind, class Along, class Named, class A>
struct parts_of_fourier {
  using layout = fourier_layout<Kind, Along, Named, A>;
  using run = fourier_run<Kind, layout, A>;
  using last = typename type_at<typename layout::Is, layout::Is::size - 1>::type;

  /// The tensor before the move to a stage.
  template <int Stage>
  static auto find_source() {
    if constexpr (Stage == 0)
      return std::type_identity<A>();
    else
      return std::type_identity<
          basic_tensor<typename run::template element<Stage - 1>,
                       varying_as_one<typename layout::template rows<Stage - 1, Stage>, A>, typename A::space>>();
  }
  template <int Stage>
  using part = typename moves_of_spectrum<
      moves_of_reshard<typename decltype(find_source<Stage>())::type, typename run::template sharding_of_stage<Stage>>,
      Kind, last, typename layout::template transformed_before<Stage, typename layout::Is>,
      typename layout::template transformed_before<Stage, typename layout::Ks>>::type;
  template <int... stage>
  static auto all(std::integer_sequence<int, stage...>) -> moves_in_turn<part<stage>...>;
  using type = decltype(all(std::make_integer_sequence<int, layout::stages.count + 1>{}));
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

}  // namespace detail

namespace operation {

template <fourier_kind Kind, class Along, class Named>
struct fourier {
  static constexpr char const* name = name_of(Kind);
  template <class A>
  using layout = detail::fourier_layout<Kind, Along, Named, A>;
  template <class A>
  using last_axis = typename detail::type_at<typename layout<A>::Is, layout<A>::Is::size - 1>::type;
  template <class A>
  using last_made = typename detail::type_at<typename layout<A>::Ks, layout<A>::Ks::size - 1>::type;

  bool is_temporary = false;  ///< the program keeps no handle of the operand, whose memory may take the result

  template <class A, class... Given>
  static consteval auto check() {
    using own = detail::fourier_verdict<fourier, Kind, Along, Named, A>;
    if constexpr (!std::is_same_v<own, reason::ok>) {
      return detail::found<own>{};
    } else {
      using asked = std::conditional_t<has_real_result(Kind), type_list<last_made<A>>, type_list<>>;
      using given = typename detail::length_verdict<asked, Given...>::type;
      if constexpr (!std::is_same_v<given, reason::ok> || varying_in<A>::size > 0)
        return detail::found<given>{};
      else
        return detail::check_static_extents<Kind, fourier>(typename layout<A>::Is{}, typename layout<A>::Ks{});
    }
  }
  template <class A, class... Given>
  using verdict = typename decltype(check<A, Given...>())::type;

  template <class A, class...>
  using moves = typename detail::parts_of_fourier<Kind, Along, Named, A>::type;

  template <class How, class A, class... Given>
  auto run(How const& how, A const& a, Given const&... given) const {
    detail::common_mesh(name, a);
    std::int64_t const n = length_of(a, given...);
    if constexpr (varying_in<A>::size == 0)
      require_static_extents(a, n, typename layout<A>::Is{}, typename layout<A>::Ks{});
    return detail::fourier_run<Kind, layout<A>, A>{name, n}.template from<0>(
        how, a, is_temporary ? detail::operand_memory::given_away : detail::operand_memory::kept);
  }

  /// The extent of the axis K of the result, which is I of the operand.
  template <class I, class K, class A>
  static std::int64_t extent_made(A const& a, std::int64_t n) {
    if constexpr (std::is_same_v<K, last_made<A>>)
      return detail::extent_of_spectrum(Kind, n);
    else
      return a.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
  }

 private:
  // The length n of the transform of the last axis of the call.
  template <class A, class... Given>
  [[nodiscard]] std::int64_t length_of(A const& a, Given const&... given) const {
    using I = last_axis<A>;
    using K = last_made<A>;
    std::int64_t const there = a.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
    if constexpr (has_real_result(Kind)) {
      std::int64_t const n = detail::length_given<K>(name, given...);
      if (n / 2 + 1 != there) detail::throw_other_spectrum(name, I::name, there, K::name, n);
      return n;
    } else {
      return there;
    }
  }

  template <class A, class... Is, class... Ks>
  static void require_static_extents(A const& a, std::int64_t n, type_list<Is...>, type_list<Ks...>) {
    auto const require = [](std::string_view axis, std::int64_t only, std::int64_t made) {
      if (only != dynamic_extent && only != made) detail::throw_other_static_extent(name, axis, only, made);
    };
    (require(Ks::name, Ks::extent, extent_made<Is, Ks>(a, n)), ...);
  }
};

}  // namespace operation

namespace detail {

template <fourier_kind Kind, class Along, auto... To, class A, class... Given>
constexpr auto call_fourier(A&& a, Given const&... given) {
  constexpr bool is_temporary = Tensor<A> && !std::is_reference_v<A> && !std::is_const_v<A>;
  return operate(ostraka::operation::fourier<Kind, Along, sharding_of<To...>>{is_temporary}, a, given...);
}

}  // namespace detail

/// y_k = Σ_j x_j e^(−2πi jk/n) along the axis I, named with the mesh axes that divide it, which becomes K: `os::fft<I,
/// K>(A)`. The other axes keep their division. `os::fft<I/X, K/X>(A)` also names the division of K, `os::fft<I/X, K,
/// J/X>(A)` that of the whole result. Real numbers become complex. The result takes the memory of a complex operand
/// that nothing else holds: os::fft<…>(std::move(A)). Collective over the named mesh axes.
template <auto Along, auto... To, class A>
  requires TensorOrVariable<std::remove_cvref_t<A>>
[[nodiscard]] constexpr auto fft(A&& a) {
  return detail::call_fourier<fourier_kind::fft, detail::type_of<Along>, To...>(std::forward<A>(a));
}

/// The same along several axes, from the last to the first: `os::fft<os::dims<I/X, J>, KI, KJ/X>(A)`. The new axes are
/// named in the order of the old ones, alone or among all dimensions. Axes that are whole at the same time are
/// transformed together, in parts that a cache holds, and an axis that is divided becomes whole by one all-to-all.
template <class Along, auto... To, class A>
  requires TensorOrVariable<std::remove_cvref_t<A>>
[[nodiscard]] constexpr auto fft(A&& a) {
  return detail::call_fourier<fourier_kind::fft, Along, To...>(std::forward<A>(a));
}

/// y_k = (1/n) Σ_j x_j e^(2πi jk/n): the inverse of os::fft.
template <auto Along, auto... To, class A>
  requires TensorOrVariable<std::remove_cvref_t<A>>
[[nodiscard]] constexpr auto ifft(A&& a) {
  return detail::call_fourier<fourier_kind::ifft, detail::type_of<Along>, To...>(std::forward<A>(a));
}

/// The inverse of os::fft along several axes, from the first to the last.
template <class Along, auto... To, class A>
  requires TensorOrVariable<std::remove_cvref_t<A>>
[[nodiscard]] constexpr auto ifft(A&& a) {
  return detail::call_fourier<fourier_kind::ifft, Along, To...>(std::forward<A>(a));
}

/// The first n/2 + 1 numbers of os::fft of real numbers; the others are their conjugates.
template <auto Along, auto... To, TensorOrVariable A>
[[nodiscard]] constexpr auto rfft(A const& a) {
  return detail::call_fourier<fourier_kind::rfft, detail::type_of<Along>, To...>(a);
}

/// The same along the last axis of several, and os::fft along the others, as NumPy's rfftn:
/// `os::rfft<os::dims<I/X, J>, KI, KJ/X>(A)`.
template <class Along, auto... To, TensorOrVariable A>
[[nodiscard]] constexpr auto rfft(A const& a) {
  return detail::call_fourier<fourier_kind::rfft, Along, To...>(a);
}

/// The inverse of os::rfft: n real numbers from n/2 + 1 complex ones, `os::irfft<I, K>(A, K = n)`. It needs n, because
/// an even n and the next odd n have the same number of complex elements. It ignores the imaginary part of the first
/// number and, if n is even, of the last.
/// @throws ostraka::error, on all devices alike, if I does not have n/2 + 1 elements
template <auto Along, auto... To, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto irfft(A const& a, Given const&... given) {
  return detail::call_fourier<fourier_kind::irfft, detail::type_of<Along>, To...>(a, given...);
}

/// The inverse of os::rfft along several axes: `os::irfft<os::dims<KI, KJ/X>, I/X, J>(A, J = n)`.
/// @throws ostraka::error, on all devices alike, if the last axis does not have n/2 + 1 elements
template <class Along, auto... To, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto irfft(A const& a, Given const&... given) {
  return detail::call_fourier<fourier_kind::irfft, Along, To...>(a, given...);
}

}  // namespace ostraka
