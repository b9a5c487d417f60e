// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle of the surface's tests: whole tensors on every rank, and plain loops over them. C[i, k] = Σ_j A[i, j] ·
/// B[j, k]. It uses nothing of the library.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ostraka::testing {

/// Extents by the letter of the axis.
using extents_by_letter = std::map<char, std::int64_t>;

/// A whole tensor, row-major in the order of its letters.
template <class T>
struct global_tensor {
  std::string labels;
  extents_by_letter extents;
  std::vector<T> values;

  [[nodiscard]] std::size_t position(extents_by_letter const& index) const {
    std::int64_t at = 0;
    for (char l : labels) at = at * extents.at(l) + index.at(l);
    return static_cast<std::size_t>(at);
  }

  /// The distance of elements whose indices of this label are neighbours; 0 for a label that the tensor lacks.
  [[nodiscard]] std::int64_t stride(char label) const {
    std::int64_t all = 0;
    std::int64_t of_this = 1;
    for (std::size_t l = labels.size(); l-- > 0; of_this *= extents.at(labels[l]))
      all += labels[l] == label ? of_this : 0;
    return all;
  }
};

inline std::int64_t number_of_elements(std::string const& labels, extents_by_letter const& extents) {
  std::int64_t n = 1;
  for (char l : labels) n *= extents.at(l);
  return n;
}

/// Calls f(index) for every combination of indices of these labels, the last one fastest.
template <class F>
void for_each_index(std::string const& labels, extents_by_letter const& extents, F&& f) {
  extents_by_letter index;
  for (char l : labels) index[l] = 0;
  for (std::int64_t count = number_of_elements(labels, extents); count > 0; --count) {
    f(const_cast<extents_by_letter const&>(index));
    for (std::size_t d = labels.size(); d-- > 0;) {
      if (++index[labels[d]] < extents.at(labels[d])) break;
      index[labels[d]] = 0;
    }
  }
}

/// A small whole number as an element: sums and products of a test's size are exact in every element type.
template <class T>
T whole_number(std::int64_t n) {
  return static_cast<T>(n);
}
template <>
inline Kokkos::complex<float> whole_number(std::int64_t n) {
  return {static_cast<float>(n), static_cast<float>(n % 3 - 1)};
}
template <>
inline Kokkos::complex<double> whole_number(std::int64_t n) {
  return {static_cast<double>(n), static_cast<double>(n % 3 - 1)};
}

/// Whole numbers from −6 to 6 without an obvious pattern.
template <class T>
global_tensor<T> whole_numbers(std::string const& labels, extents_by_letter const& extents, std::uint64_t salt) {
  global_tensor<T> g{labels, extents, {}};
  std::int64_t const count = number_of_elements(labels, extents);
  g.values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t const mixed = (static_cast<std::uint64_t>(i) + salt * 7919u + 1u) * 2654435761u;
    g.values.push_back(whole_number<T>(static_cast<std::int64_t>(mixed >> 16) % 13 - 6));
  }
  return g;
}

inline std::string labels_of_both(std::string all, std::string const& more) {
  for (char l : more)
    if (all.find(l) == std::string::npos) all += l;
  return all;
}

/// c <- f(c, a, b) for every combination of indices of both operands, in order, on the element c that they belong to:
/// the loops of an einsum.
template <class T, class Accumulate>
global_tensor<T> einsum_by_loops(std::string const& out, global_tensor<T> const& a, global_tensor<T> const& b, T start,
                                 Accumulate&& accumulate) {
  extents_by_letter extents = a.extents;
  extents.insert(b.extents.begin(), b.extents.end());
  global_tensor<T> c{out, extents, std::vector<T>(static_cast<std::size_t>(number_of_elements(out, extents)), start)};

  struct loop {
    std::int64_t extent, of_c, of_a, of_b;  // the extent, and the strides of the loop in c, a and b
    std::int64_t index = 0;
  };
  std::vector<loop> loops;
  std::int64_t count = 1;
  for (char l : labels_of_both(a.labels, b.labels)) {
    loops.push_back({extents.at(l), c.stride(l), a.stride(l), b.stride(l)});
    count *= extents.at(l);
  }
  std::int64_t at_c = 0;
  std::int64_t at_a = 0;
  std::int64_t at_b = 0;
  auto const element = [](auto& values, std::int64_t at) -> auto& { return values[static_cast<std::size_t>(at)]; };
  for (; count > 0; --count) {
    T& into = element(c.values, at_c);
    into = accumulate(into, element(a.values, at_a), element(b.values, at_b));
    for (std::size_t d = loops.size(); d-- > 0;) {
      loop& l = loops[d];
      at_c += l.of_c;
      at_a += l.of_a;
      at_b += l.of_b;
      if (++l.index < l.extent) break;
      l.index = 0;
      at_c -= l.extent * l.of_c;
      at_a -= l.extent * l.of_a;
      at_b -= l.extent * l.of_b;
    }
  }
  return c;
}

template <class T>
global_tensor<T> product_by_loops(std::string const& out, global_tensor<T> const& a, global_tensor<T> const& b) {
  return einsum_by_loops(out, a, b, T(0), [](T const& c, T const& x, T const& y) { return static_cast<T>(c + x * y); });
}

/// One operand: accumulate(c, x) for each element that belongs to c.
template <class T, class Accumulate>
global_tensor<T> reduction_by_loops(std::string const& out, global_tensor<T> const& a, T start,
                                    Accumulate&& accumulate) {
  global_tensor<T> const one{"", a.extents, {T(1)}};
  return einsum_by_loops(out, a, one, start,
                         [&](T const& c, T const& x, T const&) { return static_cast<T>(accumulate(c, x)); });
}

template <class T>
global_tensor<T> sum_by_loops(std::string const& out, global_tensor<T> const& a) {
  return reduction_by_loops(out, a, T(0), [](T const& c, T const& x) { return c + x; });
}

}  // namespace ostraka::testing
