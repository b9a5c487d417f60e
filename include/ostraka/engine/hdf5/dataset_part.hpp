// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Parts of datasets: one index of some axes, and a range of others. The part of u[time, I, J] at time = 3
/// from I = 64 on is a tensor [I, J].

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Indices of axes, by their names.
using indices_by_axis = std::vector<std::pair<std::string, std::int64_t>>;

/// A part of a dataset, or all of it.
struct dataset_part {
  std::string name{};
  indices_by_axis at{};    ///< one index of each of these axes, which the part lacks; negative: from the end
  indices_by_axis from{};  ///< the part begins at these indices
};

namespace detail {

inline std::int64_t const* find_index(indices_by_axis const& indices, std::string const& axis) {
  for (auto const& [name, index] : indices)
    if (name == axis) return &index;
  return nullptr;
}

// The axes of the dataset. If the file names none, they are those in `at`, followed by those of the part.
inline std::vector<std::string> axes_of_dataset(file_contents const& c, tensor_in_file const& t,
                                                dataset_part const& part, tensor_to_load const& wanted) {
  if (std::string const* const axes = c.find_metadata(key_of_axes(t.name))) return names_of_axes(*axes);
  std::vector<std::string> axes;
  for (auto const& [name, index] : part.at) axes.push_back(name);
  axes.insert(axes.end(), wanted.axes.begin(), wanted.axes.end());
  return axes;
}

// Checks that each index is of an axis of the dataset.
inline void require_axes(std::string const& title, std::vector<std::string> const& axes, dataset_part const& part) {
  std::string text;
  for (std::size_t d = 0; d < axes.size(); ++d) append_text(text, d > 0 ? ", " : "", axes[d]);
  for (indices_by_axis const* indices : {&part.at, &part.from})
    for (auto const& [name, index] : *indices)
      if (std::find(axes.begin(), axes.end(), name) == axes.end())
        throw_error(title, " has the axes (", text, "), and a part along ", name,
                    " is asked for; name axes of the file's");
}

}  // namespace detail

/// Replaces the dataset in the file's contents by the part. `wanted`: the requested tensor. @throws ostraka::error if
/// the dataset has no such part; find_tensor checks the rest
inline void select_part(file_contents& c, char const* operation, std::string const& path, dataset_part const& part,
                        tensor_to_load const& wanted) {
  auto const found = std::lower_bound(c.tensors.begin(), c.tensors.end(), part.name,
                                      [](tensor_in_file const& t, std::string const& name) { return t.name < name; });
  if (found == c.tensors.end() || found->name != part.name) return;
  tensor_in_file& t = *found;
  if (!t.unreadable.empty() || (part.at.empty() && part.from.empty())) return;
  std::string const title = join_text(operation, ": ", t.name, " in ", path);
  std::vector<std::string> axes = detail::axes_of_dataset(c, t, part, wanted);
  if (axes.size() != t.extents.size())
    throw_error(title, " has ", t.extents.size(), " dimensions, and its part has ", axes.size(),
                " axes, with those at one index; name an axis for each dimension");
  detail::require_axes(title, axes, part);
  std::vector<std::int64_t> extents;
  std::string names;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    std::int64_t const extent = t.extents[k];
    if (std::int64_t const* const at = detail::find_index(part.at, axes[k])) {
      std::int64_t const index = *at < 0 ? *at + extent : *at;
      if (index < 0 || index >= extent)
        throw_error(title, " has the extent ", extent, " along ", axes[k], ", and ", *at,
                    " is asked for; give an index below the extent, or from the end a negative one");
      t.places.push_back({index, true});
      continue;
    }
    std::int64_t const* const from = detail::find_index(part.from, axes[k]);
    std::int64_t const begin = from != nullptr ? *from : 0;
    auto const which = std::find(wanted.axes.begin(), wanted.axes.end(), axes[k]);
    std::int64_t const asked =
        from != nullptr && which != wanted.axes.end() && wanted.extents.size() == wanted.axes.size()
            ? wanted.extents[static_cast<std::size_t>(which - wanted.axes.begin())]
            : -1;
    if (begin < 0 || begin > extent || asked > extent - begin)
      throw_error(title, " has the extent ", extent, " along ", axes[k], ", and ",
                  asked < 0 ? std::string("indices") : join_text(asked, " indices"), " from ", begin,
                  " on are asked for; give a part of the dataset");
    t.places.push_back({begin, false});
    extents.push_back(asked < 0 ? extent - begin : asked);
    append_text(names, extents.size() > 1 ? ", " : "", axes[k]);
  }
  t.extents = std::move(extents);
  for (auto& [key, value] : c.metadata)
    if (key == key_of_axes(t.name)) value = names;
}

}  // namespace ostraka::engine
