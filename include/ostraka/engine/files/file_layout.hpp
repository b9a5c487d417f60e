// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The layout of a save: the part of a checkpoint that each leaf goes to, and its position there. A tensor of
/// the file is a leaf, or several leaves, each with some of its rows. If the tensor is transposed, each has some of its
/// columns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/name_rules.hpp>
#include <ostraka/engine/formats/npy.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The planned files of a save.
struct file_layout {
  struct file {
    file_contents contents{};
    std::string header{};
    std::int64_t data_bytes = 0;

    [[nodiscard]] std::int64_t bytes() const { return contents.data_begin + data_bytes; }
  };
  std::vector<file> files{};             ///< one, or the parts
  std::vector<tensor_in_file> leaves{};  ///< the position of each leaf, in the order of the input

  [[nodiscard]] std::int64_t data_bytes() const {
    std::int64_t sum = 0;
    for (file const& f : files) sum += f.data_bytes;
    return sum;
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (file const& f : files) sum += f.bytes();
    return sum;
  }
};

namespace detail {

// A leaf within its tensor, whose data begin at 0.
struct leaf_in_tensor {
  tensor_in_file whole{};  // the tensor
  tensor_in_file lies{};   // the leaf
  std::int64_t first = 0;  // its first row in the tensor
  std::int64_t last = 0;   // one past its last row
  std::int64_t rows = 0;   // number of rows of the tensor
};

inline leaf_in_tensor place_in_tensor(std::string const& path, tensor_to_save const& t) {
  leaf_in_tensor l;
  l.lies.name = t.name;
  l.lies.element = t.block.element;
  l.lies.extents.assign(t.block.extents.begin(), t.block.extents.begin() + t.block.block.rank);
  l.whole = l.lies;
  std::vector<std::int64_t> const& axes = l.lies.extents;
  in_tensor const& how = t.how;
  auto const merged = static_cast<std::size_t>(how.merged);
  if (how == in_tensor{}) {
    l.rows = l.last = axes.empty() ? 1 : axes[0];
    l.lies.end = bytes_of(l.lies.element, axes);
    return l;
  }
  auto const require = [&](bool holds) {
    if (!holds)
      throw_error("save: by os::stored_as the leaf ", t.leaf, " is ", how.count,
                  how.count == 1 ? " chunk of " : " chunks of ", t.name, " in ", path, ", along its first ",
                  merged == 1 ? "axis" : join_text(merged, " axes"), ", and it has the extents ",
                  describe_extents(axes), "; give a rule whose chunks divide the leaf");
  };
  require(axes.size() >= merged);
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < merged; ++d) rows *= axes[d];
  require(rows % how.count == 0);
  std::int64_t const chunk = rows / how.count;
  l.rows = chunk * how.of;
  l.first = chunk * how.first;
  l.last = l.first + rows;

  std::vector<std::int64_t> extents(axes.begin() + how.merged - 1, axes.end());  // in the leaf's order
  extents[0] = l.rows;
  tensor_in_file in_order;
  in_order.extents = extents;
  in_order.column_major = how.is_transposed;
  std::vector<std::int64_t> const strides = strides_of(in_order);
  if (how.is_transposed) std::reverse(extents.begin(), extents.end());
  l.whole.extents = std::move(extents);
  l.whole.end = bytes_of(l.whole.element, l.whole.extents);

  l.lies.strides.assign(axes.size(), strides[0]);
  for (std::size_t d = merged; d-- > 1;) l.lies.strides[d - 1] = l.lies.strides[d] * axes[d];
  std::copy(strides.begin() + 1, strides.end(), l.lies.strides.begin() + how.merged);
  std::int64_t const size = bytes_of(l.lies.element);
  l.lies.begin = l.first * strides[0] * size;
  std::int64_t behind = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) behind += (axes[d] - 1) * l.lies.strides[d];
  bool const empty = std::find(axes.begin(), axes.end(), 0) != axes.end();
  l.lies.end = l.lies.begin + (empty ? 0 : behind * size);
  return l;
}

// (5, 27) of F32, transposed
inline std::string describe_tensor(leaf_in_tensor const& l, in_tensor const& how) {
  return join_text(describe_extents(l.whole.extents), " of ", names_of(l.whole.element).dtype,
                   how.is_transposed ? ", transposed" : "");
}

// rows 3 to 5
inline std::string describe_rows(std::int64_t begin, std::int64_t end) {
  return end - begin == 1 ? join_text("row ", begin) : join_text("rows ", begin, " to ", end - 1);
}

// Checks that the leaves of a tensor have each of its rows once. `which`: the numbers of the leaves.
inline void require_each_row_once(std::string const& path, std::vector<tensor_to_save> const& tensors,
                                  std::vector<leaf_in_tensor> const& leaves, std::vector<std::size_t> which) {
  std::string const& name = tensors[which.front()].name;
  leaf_in_tensor const& one = leaves[which.front()];
  in_tensor const& how = tensors[which.front()].how;
  for (std::size_t const k : which) {
    leaf_in_tensor const& other = leaves[k];
    if (which.size() > 1 && tensors[k].how.of == 1)
      throw_error("save: two leaves are called ", name, " in ", path,
                  ", where each has a name of its own; give the trees other names in os::together");
    if (other.whole.extents != one.whole.extents || other.whole.element != one.whole.element ||
        tensors[k].how.is_transposed != how.is_transposed)
      throw_error("save: leaves that are chunks of one tensor say the same of it, and of ", name, " in ", path,
                  " the leaf ", tensors[which.front()].leaf, " says ", describe_tensor(one, how), ", the leaf ",
                  tensors[k].leaf, " ", describe_tensor(other, tensors[k].how),
                  "; give both the number of chunks that the tensor has");
  }
  std::sort(which.begin(), which.end(), [&](auto a, auto b) {
    return std::tie(leaves[a].first, leaves[a].last, a) < std::tie(leaves[b].first, leaves[b].last, b);
  });
  std::int64_t next = 0;
  std::size_t before = which.front();
  auto const fail = [&](std::int64_t begin, std::int64_t end, std::string const& where) {
    throw_error("save: leaves that are chunks of one tensor have each of its rows once, and ",
                describe_rows(begin, end), " of ", name, " in ", path, end - begin == 1 ? " is" : " are", " in ", where,
                "; give os::stored_as a rule for each chunk, and each chunk to one leaf");
  };
  for (std::size_t const k : which) {
    if (leaves[k].first > next) fail(next, leaves[k].first, "none");
    if (leaves[k].first < next)
      fail(leaves[k].first, std::min(next, leaves[k].last), join_text(tensors[before].leaf, " and ", tensors[k].leaf));
    if (leaves[k].last > next) before = k;
    next = std::max(next, leaves[k].last);
  }
  if (next < one.rows) fail(next, one.rows, "none");
}

// Returns, for each tensor of the file, the numbers of its leaves; tensors in the order of their first leaves.
inline std::vector<std::vector<std::size_t>> leaves_of_tensors(std::vector<tensor_to_save> const& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::tie(tensors[a].name, a) < std::tie(tensors[b].name, b); });
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t const k : order) {
    if (groups.empty() || tensors[groups.back().front()].name != tensors[k].name) groups.emplace_back();
    groups.back().push_back(k);
  }
  std::sort(groups.begin(), groups.end(), [](auto const& a, auto const& b) { return a.front() < b.front(); });
  return groups;
}

}  // namespace detail

/// Lays out the leaves in files with at most `part_bytes` bytes of tensors each, or in one file without `part_bytes`.
/// Each file gets `metadata`. @throws ostraka::error if the leaves of one tensor do not make it up
[[nodiscard]] inline file_layout lay_out(std::string const& path, file_format format,
                                         std::vector<tensor_to_save> const& tensors, std::int64_t part_bytes,
                                         std::vector<std::pair<std::string, std::string>> const& metadata) {
  std::vector<detail::leaf_in_tensor> leaves;
  for (tensor_to_save const& t : tensors) leaves.push_back(detail::place_in_tensor(path, t));
  file_layout all;
  std::vector<std::vector<std::size_t>> const groups = detail::leaves_of_tensors(tensors);
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of each tensor: its file, and its number there
  std::int64_t bytes = 0;
  for (std::vector<std::size_t> const& which : groups) {
    detail::require_each_row_once(path, tensors, leaves, which);
    tensor_to_save const& t = tensors[which.front()];
    if (t.name == "__metadata__")
      throw_error("save: a leaf is called __metadata__ in ", path,
                  ", under which such files keep what is no tensor; call it otherwise");
    tensor_in_file const& whole = leaves[which.front()].whole;
    if (format == file_format::safetensors && names_of(whole.element).dtype.empty())
      throw_error("save: safetensors files have no complex numbers of two doubles, and ", t.name, " in ", path,
                  " has them; save it in an HDF5 file, or alone in an .npy file");
    std::int64_t const more = bytes_of(whole.element, whole.extents);
    if (all.files.empty() || (part_bytes > 0 && bytes > 0 && bytes + more > part_bytes)) {
      all.files.push_back({{{}, metadata, 0}, {}, 0});
      bytes = 0;
    }
    bytes += more;
    file_contents& c = all.files.back().contents;
    places.emplace_back(all.files.size() - 1, c.tensors.size());
    c.tensors.push_back(whole);
    if (t.how == in_tensor{}) c.metadata.emplace_back(key_of_axes(t.name), t.axes);
  }
  for (file_layout::file& f : all.files) {
    f.header = format == file_format::npy ? make_npy_header(f.contents) : make_safetensors_header(f.contents);
    for (tensor_in_file const& t : f.contents.tensors) f.data_bytes = std::max(f.data_bytes, t.end);
  }
  for (detail::leaf_in_tensor& l : leaves) all.leaves.push_back(std::move(l.lies));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t const k : groups[g]) {
      auto const& [part, at] = places[g];
      all.leaves[k].part = part;
      all.leaves[k].begin += all.files[part].contents.tensors[at].begin;
      all.leaves[k].end += all.files[part].contents.tensors[at].begin;
    }
  return all;
}

}  // namespace ostraka::engine
