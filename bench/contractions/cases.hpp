// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Reads the contractions of cases.txt and converts them to numbers: the input of the engine, and the M, N, K and batch
/// of the products that a plain library would compute.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/contraction_labels.hpp>

namespace bench {

/// A line of cases.txt.
struct contraction_case {
  std::string name;
  bool arithmetic = true;  ///< limited by arithmetic, else by bandwidth
  std::string types;       ///< f, d or both
  std::string a, b, c;     ///< labels; b is empty with one operand, whose einsum has no comma
  bool two_operands = true;
  std::map<char, std::int64_t> extents;

  [[nodiscard]] std::int64_t size(std::string const& labels) const {
    std::int64_t n = 1;
    for (char l : labels) n *= extents.at(l);
    return n;
  }

  /// Every label once: the labels of a, then the others of b.
  [[nodiscard]] std::string labels() const {
    std::string all = a;
    for (char l : b)
      if (all.find(l) == std::string::npos) all += l;
    return all;
  }

  /// Labels in one tensor's order that are, or are not, in the two others.
  [[nodiscard]] static std::string among(std::string const& order, std::string const& second, bool in_second,
                                         std::string const& third, bool in_third) {
    std::string found;
    for (char l : order)
      if ((second.find(l) != std::string::npos) == in_second && (third.find(l) != std::string::npos) == in_third)
        found += l;
    return found;
  }
  [[nodiscard]] std::string batch() const { return among(c, a, true, b, true); }
  [[nodiscard]] std::string m() const { return among(c, a, true, b, false); }
  [[nodiscard]] std::string n() const { return among(c, a, false, b, true); }
  [[nodiscard]] std::string k() const { return among(a, b, true, c, false); }

  /// Multiplications and additions; for a reduction, the additions.
  [[nodiscard]] double flops() const { return (two_operands ? 2.0 : 1.0) * static_cast<double>(size(labels())); }
  [[nodiscard]] std::int64_t elements() const { return size(a) + (two_operands ? size(b) : 0) + size(c); }
};

/// Row-major blocks without gaps.
inline ostraka::engine::contraction numbers_of(contraction_case const& one) {
  ostraka::engine::contraction p;
  for (char l : one.labels()) {
    auto const lie = [&](std::string const& order, bool& present, std::int64_t& stride) {
      std::size_t const at = order.find(l);
      present = at != std::string::npos;
      stride = present ? one.size(order.substr(at + 1)) : 0;
    };
    p.extent[p.labels] = one.extents.at(l);
    lie(one.a, p.in_a[p.labels], p.a[p.labels]);
    lie(one.b, p.in_b[p.labels], p.b[p.labels]);
    lie(one.c, p.in_c[p.labels], p.c[p.labels]);
    ++p.labels;
  }
  return p;
}

inline contraction_case parse_case(std::string const& line) {
  contraction_case one;
  std::string kind, spec, extents;
  std::istringstream(line) >> one.name >> kind >> one.types >> spec >> extents;
  std::size_t const comma = spec.find(',');
  std::size_t const arrow = spec.find("->");
  if (extents.empty() || arrow == std::string::npos || (kind != "arithmetic" && kind != "bandwidth"))
    throw std::runtime_error("not a case: " + line);
  one.arithmetic = kind == "arithmetic";
  one.two_operands = comma != std::string::npos;
  one.a = spec.substr(0, std::min(comma, arrow));
  if (one.two_operands) one.b = spec.substr(comma + 1, arrow - comma - 1);
  one.c = spec.substr(arrow + 2);
  std::istringstream list(extents);
  for (std::string item; std::getline(list, item, ',');) one.extents[item.at(0)] = std::stoll(item.substr(2));
  static_cast<void>(one.size(one.labels()));  // throws if an extent is missing
  return one;
}

inline std::vector<contraction_case> read_cases(std::string const& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<contraction_case> all;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') all.push_back(parse_case(line));
  return all;
}

}  // namespace bench
