// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/on_meshes.hpp"

namespace ostraka::testing {

std::vector<extents_by_letter> usual_extents() {
  return {{{'B', 4}, {'I', 8}, {'J', 12}, {'K', 4}, {'L', 2}},
          {{'B', 3}, {'I', 7}, {'J', 5}, {'K', 9}, {'L', 2}},
          {{'B', 2}, {'I', 1}, {'J', 3}, {'K', 2}, {'L', 1}},
          {{'B', 2}, {'I', 3}, {'J', 0}, {'K', 5}, {'L', 3}}};
}

std::string text_of(extents_by_letter const& e) {
  std::string t;
  for (auto const& [letter, n] : e) t += std::string(1, letter) + '=' + std::to_string(n) + ' ';
  return t;
}

ostraka::sizes<B_axis, I_axis, J_axis, K_axis, L_axis> named(extents_by_letter const& e) {
  return {B = e.at('B'), I = e.at('I'), J = e.at('J'), K = e.at('K'), L = e.at('L')};
}

}  // namespace ostraka::testing
