// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Checks whether the function of a stencil reads beyond the halo. In check mode the host calls it at points
/// with made-up surroundings: twice with the same numbers within the halo, and with different ones beyond. If the
/// results differ, it reads beyond the halo; changing one neighbour at a time finds the one that it reads. The check
/// finds reads up to `beyond` indices outside the halo, on every path that the made-up numbers take.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/stencil_kernel.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/shardings/halo.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

template <class T>
T number_of(int n) {
  return T(static_cast<float>(n));
}

/// The surroundings of a made-up point, in a block that is padded along `Axes` axes.
template <class T, int Axes>
class synthetic_point {
 public:
  static constexpr int beyond = Axes <= 2 ? 8 : 3;

  explicit synthetic_point(halo_margins const* margins) {
    for (int k = 0; k < Axes; ++k) margins_[k] = margins[k];
    for (int k = Axes - 1; k >= 0; --k) {
      stride_[k] = size_;
      size_ *= extent(k);
    }
    for (int k = 0; k < Axes; ++k) point_ += stride_[k] * (margins_[k].before + beyond);
    numbers_.resize(static_cast<std::size_t>(size_));
  }

  /// Sets numbers of one of several kinds within the halo, and others beyond.
  void fill(int kind, bool changed) {
    for (std::int64_t i = 0; i < size_; ++i) set(i, kind, changed && is_beyond_halo(i));
  }
  void set(std::int64_t i, int kind, bool changed) {
    int const n = kind == 0 ? 1 : kind == 1 ? -1 : static_cast<int>(i % 5) - 2;
    numbers_[static_cast<std::size_t>(i)] = number_of<T>(2 * n + (changed ? 7 : 1));  // odd and so not 0, because f may
                                                                                      // divide by it
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool is_beyond_halo(std::int64_t i) const {
    for (int k = 0; k < Axes; ++k)
      if (step(i, k) > margins_[k].behind || step(i, k) < -margins_[k].before) return true;
    return false;
  }
  /// The distance of element i from the point along axis k, in indices.
  [[nodiscard]] std::int64_t step(std::int64_t i, int k) const {
    return i / stride_[k] % extent(k) - margins_[k].before - beyond;
  }
  [[nodiscard]] auto given() const { return neighbours<T, Axes>(numbers_.data() + point_, stride_); }

 private:
  [[nodiscard]] std::int64_t extent(int k) const { return margins_[k].both() + 2 * beyond + 1; }

  halo_margins margins_[Axes]{};
  std::int64_t stride_[Axes]{};
  std::int64_t size_ = 1, point_ = 0;
  dynamic_array<T> numbers_;
};

/// A block without a halo: f gets only its element.
template <class T>
class synthetic_point<T, 0> {
 public:
  explicit synthetic_point(halo_margins const*) {}
  void fill(int kind, bool) { number_ = number_of<T>(kind == 1 ? -1 : 3); }
  [[nodiscard]] T given() const { return number_; }

 private:
  T number_{};
};

[[noreturn, gnu::cold]] inline void throw_reads_beyond(std::string_view operation, std::string const& steps, int width,
                                                       std::string_view axis) {
  throw_error(operation, ": f reads no farther than the halo of a block reaches, but it reads ", steps,
              " of a halo of ", width, " along ", axis, "; exchange a wider halo, or read a nearer neighbour");
}

/// Calls f at made-up points. `Operands` are the blocks. Each has an element type and its padded axes, with their names
/// and widths.
template <class F, class... Operands>
class reach_of_stencil {
 public:
  /// @throws ostraka::error, on all devices alike, if f reads beyond a halo
  [[gnu::cold, gnu::noinline]] static void check(char const* operation, F const& f) {
    std::tuple<synthetic_point<typename Operands::element, Operands::axes>...> points{
        synthetic_point<typename Operands::element, Operands::axes>(Operands::margins().data())...};
    auto const call = [&] { return std::apply([&](auto const&... p) { return f(p.given()...); }, points); };
    auto const alike = [](auto const& a, auto const& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; };
    for (int kind = 0; kind < 3; ++kind) {
      std::apply([&](auto&... p) { (p.fill(kind, false), ...); }, points);
      auto const within = call();
      [&]<std::size_t... Is>(std::index_sequence<Is...>) {
        (look<Operands>(operation, std::get<Is>(points), kind, [&] { return !alike(within, call()); }), ...);
      }(std::index_sequence_for<Operands...>{});
    }
  }

 private:
  template <class Operand, class Point, class Differs>
  static void look(char const* operation, Point& p, int kind, Differs const& differs) {
    if constexpr (Operand::axes > 0) {
      p.fill(kind, true);
      bool const reads_beyond = differs();
      p.fill(kind, false);
      for (std::int64_t i = 0; reads_beyond && i < p.size(); ++i) {
        if (!p.is_beyond_halo(i)) continue;
        p.set(i, kind, true);
        if (differs()) tell<Operand>(operation, p, i);
        p.set(i, kind, false);
      }
    }
  }

  template <class Operand, class Point>
  [[noreturn]] static void tell(char const* operation, Point const& p, std::int64_t i) {
    std::string steps = "u(";
    std::size_t wrong = 0;
    int width = 0;
    for (std::size_t k = Operand::axes; k-- > 0;) {
      auto const step = p.step(i, static_cast<int>(k));
      halo_margins const m = Operand::margins()[k];
      if (step <= m.behind && step >= -m.before) continue;
      wrong = k;
      width = step < 0 ? m.before : m.behind;
    }
    for (int k = 0; k < Operand::axes; ++k) append_text(steps, k == 0 ? "" : ", ", p.step(i, k));
    throw_reads_beyond(operation, join_text(steps, ")"), width, Operand::names()[wrong]);
  }
};

template <class... Labels>
constexpr auto margins_of(type_list<Labels...>) {
  return std::array<halo_margins, sizeof...(Labels) + 1>{unpadded_axis<Labels>::margins..., halo_margins{}};
}
template <class A>
inline constexpr auto margins_in = margins_of(axes_in<A>{});

// An operand in the form that check_reach.hpp takes: its padded axes.
template <class A>
struct reached_operand {
  using element = typename A::value_type;
  static constexpr int axes = padded_axes<axes_in<A>>;

  static auto margins() {
    std::array<halo_margins, axes + 1> all{};
    std::size_t k = 0;
    for (halo_margins const m : margins_in<A>)
      if (m.both() > 0) all[k++] = m;
    return all;
  }
  static auto names() {
    return [&]<class... Ls>(type_list<Ls...>) {
      std::array<std::string_view, axes + 1> all{};
      std::size_t k = 0;
      ((unpadded_axis<Ls>::margins.both() > 0 ? static_cast<void>(all[k++] = unpadded_axis<Ls>::type::name) : void()),
       ...);
      return all;
    }(axes_in<A>{});
  }
};

// In check mode, throws if f reads beyond the halo of a block, on all devices alike.
template <class F, class... Operands>
void require_reach_of(char const* operation, engine::device_mesh const& mesh, F const& f) {
  if (mesh.world().compares_calls()) reach_of_stencil<F, Operands...>::check(operation, f);
}
template <class F, class... As>
void require_reach(char const* operation, engine::device_mesh const& mesh, F const& f) {
  require_reach_of<F, reached_operand<As>...>(operation, mesh, f);
}

}  // namespace ostraka::detail
