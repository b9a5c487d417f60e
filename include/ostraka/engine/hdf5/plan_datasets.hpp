// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The planned datasets of an HDF5 file: their names, extents and chunks, without the library. A dataset that
/// grows has one more dimension than its leaf, the first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// How to store datasets: contiguously, or in chunks, compressed or not.
struct dataset_layout {
  bool is_chunked = false;
  std::vector<std::pair<std::string, std::int64_t>> chunks{};  ///< extents of a chunk along some axes; others follow
  std::optional<int> compression{};                            ///< deflate level, 1 to 9
};

/// A dataset to make.
struct new_dataset {
  std::string name{};
  file_element element = file_element::f32;
  std::vector<std::string> axes{};
  std::vector<std::int64_t> extents{};
  std::vector<std::int64_t> chunk{};  ///< empty: contiguous
  int compression = 0;
  bool grows = false;  ///< along its first dimension, which has extent 0 here

  /// True if the dataset has the values of its only axis, and so is the dimension scale of that axis.
  [[nodiscard]] bool is_scale() const { return axes.size() == 1 && axes[0] == name; }
};

namespace detail {

inline constexpr std::int64_t usual_chunk_bytes = std::int64_t(1) << 20;    // size of a reader's default cache
inline constexpr std::int64_t largest_chunk = (std::int64_t(1) << 32) - 1;  // limit of the format, bytes and elements

inline std::int64_t product_of(std::vector<std::int64_t> const& extents) {
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  return n;
}

// Returns a chunk of this dataset: the layout's extents, and along other axes the dataset's, halved until it is small
// enough.
inline std::vector<std::int64_t> chunk_of(new_dataset const& d, dataset_layout const& layout) {
  std::vector<std::int64_t> chunk;
  std::vector<std::size_t> free;
  for (std::size_t k = 0; k < d.extents.size(); ++k) {
    std::int64_t const extent = std::max<std::int64_t>(d.extents[k], 1);
    auto const given =
        std::find_if(layout.chunks.begin(), layout.chunks.end(), [&](auto const& c) { return c.first == d.axes[k]; });
    bool const is_given = given != layout.chunks.end();
    bool const may_exceed = d.grows && k == 0;
    chunk.push_back(!is_given ? extent : may_exceed ? given->second : std::min(given->second, extent));
    if (!is_given) free.push_back(k);
  }
  auto const larger = [&](std::size_t a, std::size_t b) { return chunk[a] < chunk[b]; };
  while (!free.empty() && product_of(chunk) > usual_chunk_bytes / bytes_of(d.element)) {
    std::int64_t& most = chunk[*std::max_element(free.begin(), free.end(), larger)];
    if (most == 1) break;
    most = (most + 1) / 2;
  }
  return chunk;
}

inline void require_name(char const* operation, std::string const& path, std::string const& name) {
  bool fits = !name.empty() && name.find('\0') == std::string::npos && name.front() != '/' && name.back() != '/';
  for (std::size_t begin = 0; fits && begin <= name.size();) {
    std::size_t const end = std::min(name.find('/', begin), name.size());
    std::string const one = name.substr(begin, end - begin);
    fits = !one.empty() && one != "." && one != "..";
    begin = end + 1;
  }
  if (!fits)
    throw_error(operation, ": \"", name, "\" is no name of a dataset in ", path,
                "; name each tree or tensor in os::together, as u, or run/u in a group");
}

// Checks that names are unique, and that none is also a group or another axis.
inline void require_own_names(char const* operation, std::string const& path, std::vector<new_dataset> const& all) {
  std::vector<std::string> names;
  for (new_dataset const& d : all) names.push_back(d.name);
  std::sort(names.begin(), names.end());
  for (std::size_t k = 0; k + 1 < names.size(); ++k) {
    if (names[k] == names[k + 1])
      throw_error(operation, ": two leaves are called ", names[k], " in ", path,
                  ", where each has a name of its own; give the trees other names in os::together");
    auto const within = std::lower_bound(names.begin(), names.end(), names[k] + '/');
    if (within != names.end() && within->starts_with(names[k] + '/'))
      throw_error(operation, ": ", names[k], " is a dataset in ", path, ", and in ", *within,
                  " it is a group; give one of them another name in os::together");
  }
  for (new_dataset const& d : all)
    for (std::string const& axis : d.axes)
      for (new_dataset const& other : all)
        if ((other.name == axis && !other.is_scale()) || other.name.starts_with(axis + '/'))
          throw_error(operation, ": in ", path, " the name of an axis, ", axis,
                      ", is that of a dataset with the axis' values, and the leaf ", other.name,
                      " is not along this axis alone; give the leaf another name in os::together");
}

inline void require_layout(char const* operation, std::vector<new_dataset> const& all, dataset_layout const& layout) {
  if (layout.compression && (*layout.compression < 1 || *layout.compression > 9))
    throw_error(operation, ": datasets are deflated at the levels 1 to 9, and not ", *layout.compression,
                "; give one of these");
  for (auto const& [axis, extent] : layout.chunks) {
    if (extent < 1)
      throw_error(operation, ": os::chunked asks for chunks of ", extent, " along ", axis, "; give 1 or more");
    bool known = false;
    for (new_dataset const& d : all) known = known || std::find(d.axes.begin(), d.axes.end(), axis) != d.axes.end();
    if (!known)
      throw_error(operation, ": os::chunked names the axis ", axis,
                  ", which no tensor has that is saved; name axes of theirs");
  }
  for (new_dataset const& d : all) {
    std::int64_t elements = 1;
    for (std::int64_t n : d.chunk) elements = n > largest_chunk / elements ? largest_chunk + 1 : elements * n;
    if (elements > largest_chunk / bytes_of(d.element))
      throw_error(operation, ": a chunk has less than 4 GiB, and those of ", d.name, " are to have ",
                  detail::describe_extents(d.chunk), " elements; give os::chunked smaller extents");
  }
}

}  // namespace detail

/// Plans the datasets of these tensors. With the axis `grows`, each has it as its first dimension, of extent 0.
/// @throws ostraka::error if no datasets can hold the tensors
[[nodiscard]] inline std::vector<new_dataset> plan_datasets(char const* operation, save_request const& request,
                                                            dataset_layout const& layout,
                                                            std::string const& grows = {}) {
  if (!ends_as_hdf5(request.path))
    throw_error(operation, ": datasets are stored in an HDF5 file, but the path is ", request.path,
                "; give a path that ends in .h5 or .hdf5");
  if (request.part_bytes != 0)
    throw_error(operation, ": an HDF5 file is one file, and os::in_parts_of asks for several; leave it out");
  std::vector<new_dataset> all;
  for (tensor_to_save const& t : request.tensors) {
    detail::require_name(operation, request.path, t.name);
    if (t.how != in_tensor{})
      throw_error(operation, ": a leaf is a dataset of an HDF5 file, and by os::stored_as ", t.leaf, " is a part of ",
                  t.name, ", or lies transposed there; give rules of names alone");
    new_dataset d;
    d.name = t.name;
    d.element = t.block.element;
    d.axes = names_of_axes(t.axes);
    d.extents.assign(t.block.extents.begin(), t.block.extents.begin() + t.block.block.rank);
    d.grows = !grows.empty();
    if (d.grows) {
      if (std::find(d.axes.begin(), d.axes.end(), grows) != d.axes.end())
        throw_error(operation, ": the datasets grow along ", grows, ", which is no axis of what is appended, and ",
                    d.name, " has it; append what belongs to one index of ", grows);
      d.axes.insert(d.axes.begin(), grows);
      d.extents.insert(d.extents.begin(), 0);
    }
    bool const has_elements = detail::product_of(d.extents) > 0;
    if (d.grows || ((layout.is_chunked || layout.compression) && !d.extents.empty() && has_elements)) {
      d.chunk = detail::chunk_of(d, layout);
      d.compression = layout.compression.value_or(0);
    }
    all.push_back(std::move(d));
  }
  detail::require_own_names(operation, request.path, all);
  detail::require_layout(operation, all, layout);
  return all;
}

}  // namespace ostraka::engine
