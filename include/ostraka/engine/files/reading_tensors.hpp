// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds tensors in a file's contents, and reads them (load_tensors.hpp). Programs that link ostraka::compiled
/// do not include this.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/files/convert_elements.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/name_rules.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

// (3, 4) → 2 axes, of extents (3, 4)
inline std::string describe_axes(std::vector<std::int64_t> const& extents) {
  if (extents.empty()) return "no axes";
  return extents.size() == 1 ? join_text("1 axis, of extent ", extents[0])
                             : join_text(extents.size(), " axes, of extents ", describe_extents(extents));
}

inline std::string describe_names(std::vector<std::string_view> const& axes) {
  std::string text = "(";
  for (std::size_t d = 0; d < axes.size(); ++d) append_text(text, d > 0 ? ", " : "", axes[d]);
  return join_text(text, ')');
}

// True if the file has one of these axes in the position of another. An axis with another name may be the same axis.
inline bool have_other_order(std::vector<std::string> const& in_file, std::vector<std::string_view> const& wanted) {
  for (std::size_t d = 0; d < in_file.size() && d < wanted.size(); ++d)
    for (std::size_t e = 0; e < wanted.size(); ++e)
      if (d != e && in_file[d] == wanted[e]) return true;
  return false;
}

inline std::string title_of(char const* operation, std::string const& path, tensor_in_file const& t) {
  std::string const& name = t.name_in_file();
  return join_text(operation, ": ", name.empty() ? std::string("the array") : name, " in ", path);
}

}  // namespace detail

namespace detail {

// Returns the leaf as a part of the tensor, which may hold it transposed, or as some of its rows.
inline tensor_in_file leaf_of(tensor_in_file const& t, leaf_in_file&& leaf, char const* operation,
                              std::string const& path) {
  tensor_in_file of = t;
  if (leaf.name != of.name) of.renamed = std::exchange(of.name, std::move(leaf.name));
  in_tensor const& how = leaf.how;
  if (how == in_tensor{}) return of;
  of.strides = strides_of(t);
  if (how.is_transposed) {
    std::reverse(of.extents.begin(), of.extents.end());
    std::reverse(of.strides.begin(), of.strides.end());
  }
  of.merged = how.merged;
  if (of.extents.empty() || of.extents[0] % how.of != 0)
    throw_error(title_of(operation, path, of), " has ", describe_axes(t.extents), ", and ", how.of,
                " chunks of it are leaves; let their number divide the extent");
  std::int64_t const rows = of.extents[0] / how.of;
  of.extents[0] = rows * how.count;
  std::int64_t const size = bytes_of(of.element);
  of.begin += how.first * rows * of.strides[0] * size;
  std::int64_t last = 0;
  bool empty = false;
  for (std::size_t d = 0; d < of.extents.size(); ++d) {
    last += (of.extents[d] - 1) * of.strides[d];
    empty = empty || of.extents[d] == 0;
  }
  of.end = of.begin + (empty ? 0 : (last + 1) * size);
  return of;
}

// Splits the first axis of the file's tensor into the leaf's first axes: [H·D, M] into [H, D, M].
inline void split_first_axis(tensor_in_file& t, tensor_to_load const& wanted, char const* operation,
                             std::string const& path) {
  auto const merged = static_cast<std::size_t>(t.merged);
  if (merged == 1 || wanted.extents.size() + 1 != t.extents.size() + merged) return;
  std::vector<std::int64_t> axes(wanted.extents.begin(), wanted.extents.begin() + t.merged);
  std::int64_t known = 1;
  bool fits = true;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& n : axes) {
    if (n < 0 && unknown != nullptr) fits = false;
    if (n < 0) unknown = &n;
    if (n > 0 && known > max_elements_in_file / n) fits = false;
    if (fits && n >= 0) known *= n;
  }
  if (fits && unknown != nullptr) {
    fits = known > 0 && t.extents[0] % known == 0;
    if (fits) *unknown = t.extents[0] / known;
  } else if (fits) {
    fits = known == t.extents[0];
  }
  if (!fits)
    throw_error(title_of(operation, path, t), " has ", t.extents[0], " rows for the leaf, whose first ", t.merged,
                " axes have the extents ", describe_extents(axes),
                "; give the extents of all of these but one, whose product divides that number");
  std::vector<std::int64_t> strides(merged);
  std::int64_t next = t.strides[0];
  for (std::size_t d = merged; d-- > 0; next *= axes[d]) strides[d] = next;
  t.extents.erase(t.extents.begin());
  t.extents.insert(t.extents.begin(), axes.begin(), axes.end());
  t.strides.erase(t.strides.begin());
  t.strides.insert(t.strides.begin(), strides.begin(), strides.end());
  t.merged = 1;
}

}  // namespace detail

template <class>
void rename_tensors(file_contents& c, char const* operation, std::string const& path, tensor_names const& names) {
  std::vector<tensor_in_file> in_tree;
  for (tensor_in_file const& t : c.tensors)
    for (leaf_in_file& leaf : names.in_tree(t.name))
      if (!leaf.name.empty()) in_tree.push_back(detail::leaf_of(t, std::move(leaf), operation, path));
  c.tensors = std::move(in_tree);
  std::sort(c.tensors.begin(), c.tensors.end(), [](tensor_in_file const& a, tensor_in_file const& b) {
    return a.name != b.name ? a.name < b.name : a.name_in_file() < b.name_in_file();
  });
  auto const two = std::adjacent_find(c.tensors.begin(), c.tensors.end(),
                                      [](auto const& a, auto const& b) { return a.name == b.name; });
  if (two != c.tensors.end())
    throw_error(operation, ": ", path, " has two tensors for ", two->name, ", ", two->name_in_file(), " and ",
                std::next(two)->name_in_file(), "; give each the name of a leaf of its own");
}

template <class>
std::span<tensor_in_file const> tensors_beginning_with(file_contents const& c, std::string_view begin) {
  auto const start = [&](tensor_in_file const& t) { return std::string_view(t.name).substr(0, begin.size()); };
  auto const first = std::partition_point(c.tensors.begin(), c.tensors.end(),
                                          [&](tensor_in_file const& t) { return start(t) < begin; });
  auto const last =
      std::partition_point(first, c.tensors.end(), [&](tensor_in_file const& t) { return start(t) == begin; });
  return {first, last};
}

template <class>
tensor_in_file const* find_tensor(file_contents& c, char const* operation, std::string const& path,
                                  tensor_to_load const& wanted) {
  auto const at = std::lower_bound(c.tensors.begin(), c.tensors.end(), wanted.name,
                                   [](tensor_in_file const& t, std::string const& name) { return t.name < name; });
  if (at == c.tensors.end() || at->name != wanted.name) return nullptr;
  tensor_in_file& t = *at;
  if (!t.unreadable.empty()) throw_error(detail::title_of(operation, path, t), ' ', t.unreadable);
  detail::split_first_axis(t, wanted, operation, path);
  auto const called = [](file_element e) {
    return std::string(names_of(e).dtype.empty() ? names_of(e).descr : names_of(e).dtype);
  };
  if (t.element != wanted.element && !(wanted.converted && converts(t.element, wanted.element)))
    throw_error(detail::title_of(operation, path, t), " has elements ", called(t.element), ", and ",
                called(wanted.element), " are asked for; ",
                converts(t.element, wanted.element)
                    ? "floating-point numbers are converted by os::cast_to among the arguments"
                    : "nothing is converted, so load them as they are and os::cast");
  if (t.extents.size() != wanted.extents.size())
    throw_error(detail::title_of(operation, path, t), " has ", detail::describe_axes(t.extents), ", and ",
                wanted.axes.empty()
                    ? "a tensor without axes is asked for"
                    : join_text("one of the axes ", detail::describe_names(wanted.axes), " is asked for"),
                "; name an axis for each of the file's");
  bool fits = true;
  for (std::size_t d = 0; fits && d < t.extents.size(); ++d)
    fits = wanted.extents[d] < 0 || wanted.extents[d] == t.extents[d];
  if (!fits)
    throw_error(detail::title_of(operation, path, t), " has the extents ", detail::describe_extents(t.extents),
                ", and ", detail::describe_extents(wanted.extents), " are asked for; give the extents of the file");
  if (std::string const* const axes = c.find_metadata(key_of_axes(t.name_in_file()));
      axes != nullptr && t.strides.empty() && detail::have_other_order(names_of_axes(*axes), wanted.axes))
    throw_error(detail::title_of(operation, path, t), " was saved with the axes ", *axes,
                ", which are asked for in another order; load it as it lies and os::copy it into the other order");
  return &t;
}

namespace detail {

// a, b and c; for a long list the first names, and the number of the others.
inline std::string list_names(std::vector<std::string> const& names) {
  constexpr std::size_t most = 16;
  std::string text;
  std::size_t const said = names.size() > most ? most - 1 : names.size();
  for (std::size_t i = 0; i < said; ++i)
    append_text(text, i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return said == names.size() ? text : join_text(text, " and ", names.size() - said, " more");
}

inline void require_whole_datasets(char const* operation, std::vector<tensor_in_file const*> const& asked) {
  for (tensor_in_file const* t : asked)
    if (!t->strides.empty())
      throw_error(operation, ": a leaf is a dataset of an HDF5 file, and by os::stored_as ", t->name, " is a part of ",
                  t->name_in_file(), ", or lies transposed there; give rules of names alone");
}

}  // namespace detail

template <class>
void require_complete(file_set const& files, char const* operation, std::string const& path,
                      std::vector<tensor_in_file const*> asked, std::vector<std::string> const& missing, bool only) {
  std::sort(asked.begin(), asked.end());
  std::vector<std::string> others;
  for (tensor_in_file const& t : files.contents.tensors)
    if (only && !std::binary_search(asked.begin(), asked.end(), &t)) others.push_back(t.name_in_file());
  if (missing.empty() && others.empty()) {
    if (files.is_hdf5) detail::require_whole_datasets(operation, asked);
    return;
  }
  std::string text = join_text(operation, ": ", path);
  if (!missing.empty())
    append_text(text, missing.size() == 1 ? " has no tensor called " : " has no tensors called ",
                detail::list_names(missing));
  if (!others.empty())
    append_text(text, missing.empty() ? " also has " : ", and also has ", detail::list_names(others),
                others.size() == 1 ? ", for which the tree has no leaf" : ", for which the tree has no leaves");
  throw_error(text, missing.empty()  ? "; give the tree that was saved, or os::ignore_others"
                    : others.empty() ? "; give the tree that was saved, or a file of this one"
                                     : "; give the tree that was saved, with the names that it has in the file");
}

namespace detail {

// Returns "load w of the extents (3, 4), from layers.0.w at byte 96".
inline std::string request_in_words(char const* operation, tensor_in_file const& t) {
  std::string text = join_text(operation, ' ', t.name, " of the extents ", describe_extents(t.extents), ", from ",
                               t.name_in_file(), " at byte ", t.begin);
  for (std::int64_t const stride : t.strides) append_text(text, ", ", stride);
  return text;
}

}  // namespace detail

template <class>
void agree_on_requests(device_mesh const& mesh, char const* operation, std::string const& failure,
                       std::vector<tensor_in_file const*> const& asked) {
  if (mesh.absent() || mesh.is_dry()) {
    if (!failure.empty()) throw error(failure);
    return;
  }
  exclusive_use const use = mesh.use(operation);
  communicator const& all = mesh.world();
  throw_alike(all, failure);
  if (all.compared() == compared_calls::none) return;
  auto const count = static_cast<std::int64_t>(asked.size());
  std::int64_t most[2] = {count, -count};
  all.find_largest(most, 2);
  if (most[0] != -most[1])
    return require_agreement(all, [&] { return join_text(operation, ' ', count, " tensors of a file"); });
  auto const request_in_words = [&](std::size_t i) { return detail::request_in_words(operation, *asked[i]); };
  // For each request, the largest and the least hash of its description over all devices, to name the first request
  // that differs.
  std::vector<std::int64_t> numbers(2 * asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    numbers[2 * i] = static_cast<std::int64_t>(std::hash<std::string>{}(request_in_words(i)) >> 2U);
    numbers[2 * i + 1] = -numbers[2 * i];
  }
  if (count > 0) all.find_largest(numbers.data(), static_cast<int>(numbers.size()));
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (numbers[2 * i] != -numbers[2 * i + 1])
      return require_agreement(all, [&] { return request_in_words(i); });
}

namespace detail {

// MPI-IO does not always report the end of a file, so this compares the file's size again after all reads.
inline void require_whole(char const* operation, file_part const& part) {
  if (posix_file(operation, part.path, O_RDONLY).size() < part.bytes)
    throw_error(operation, ": ", part.path, " has become shorter while it was read; load it again");
}

// Reads blocks of tensors that are in one part. Collective.
inline void load_from_part(device_mesh const& mesh, char const* operation, file_part const& part,
                           std::span<placed_block const> blocks) {
  std::vector<foreign_block> foreign;
  std::vector<piece_in_memory> pieces;
  run_or_fail_together(mesh.world(), [&] {
    for (placed_block const& b : blocks) {
      if (!b.block.here) continue;
      std::int64_t const at = part.data_begin + b.tensor->begin;
      if (foreign_block::is_one(b, file_use::reads))
        foreign.emplace_back(b.block, *b.tensor).add_to(pieces, at);
      else
        add_pieces(pieces, b.block, file_use::reads, at, strides_of(*b.tensor));
    }
  });
  move_pieces(mesh.world(), operation, part.path, file_use::reads, pieces);
  run_or_fail_together(mesh.world(), [&] {
    if (mesh.device() == 0) require_whole(operation, part);
    for (foreign_block& f : foreign) f.settle();
  });
}

}  // namespace detail

template <class>
void load_blocks(device_mesh const& mesh, char const* operation, std::string const& path, file_set const& files,
                 std::vector<placed_block> blocks) {
  if (mesh.absent()) return;
  exclusive_use const use = mesh.use(operation);
  auto const bytes_in_file = [](placed_block const& b) {
    return detail::in_elements_of_file(b.block, *b.tensor).bytes();
  };
  std::int64_t bytes = 0;
  for (placed_block const& b : blocks) bytes += bytes_in_file(b);
  if (mesh.is_dry()) {  // its tensors have no values
    traffic_of_files.read += bytes;
    return;
  }
  if (files.is_hdf5) return require_hdf5(operation, path).load_blocks(mesh, operation, path, blocks);
  profiled const region_of_run([&] {
    push_region(join_text(operation, ' ', path, ", reads ", planner::describe_bytes(bytes), " on this device"));
  });
  std::sort(blocks.begin(), blocks.end(), [](auto const& a, auto const& b) {
    return a.tensor->part != b.tensor->part ? a.tensor->part < b.tensor->part : a.tensor->begin < b.tensor->begin;
  });
  std::vector<std::int64_t> most;
  bool foreign = false;
  for (placed_block const& b : blocks) {
    most.push_back(bytes_in_file(b));
    foreign = foreign || detail::foreign_block::is_one(b, file_use::reads);
  }
  if (foreign) mesh.world().find_largest(most.data(), static_cast<int>(most.size()));
  std::span<placed_block const> rest(blocks);
  while (!rest.empty()) {
    std::size_t const count = detail::count_together(rest, std::span(most).last(rest.size()), file_use::reads);
    detail::load_from_part(mesh, operation, files.parts[rest.front().tensor->part], rest.first(count));
    rest = rest.subspan(count);
  }
}

}  // namespace ostraka::engine
