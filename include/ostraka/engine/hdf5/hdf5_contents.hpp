// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The contents of an HDF5 file, which one device reads for all: the names of datasets, their elements,
/// extents and axes. Links to other files are not followed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/hdf5/hdf5_elements.hpp>
#include <ostraka/engine/hdf5/hdf5_library.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The name that netCDF gives to a dimension scale without values, which is not a dataset of a tensor.
inline constexpr std::string_view scale_without_values = "This is a netCDF dimension but not a netCDF variable.";

/// A dataset, with facts that only appending needs.
struct described_dataset {
  tensor_in_file tensor{};
  std::vector<std::string> axes{};  ///< empty text for an axis without a name
  bool grows = false;               ///< along its first dimension
  bool is_scale_alone = false;      ///< true for a dimension scale without values
};

namespace detail {

inline std::string name_of_object(hid_t object) {
  char text[1024] = "";
  return H5Iget_name(object, text, sizeof text) > 0 ? std::string(text) : std::string();
}

// The name of a dimension: its label, or that of its first scale.
inline std::string axis_of_dimension(hid_t dataset, unsigned dimension) {
  char label[256] = "";
  if (H5DSget_label(dataset, dimension, label, sizeof label) > 0 && label[0] != '\0') return label;
  if (H5DSget_num_scales(dataset, dimension) <= 0) return {};
  std::string name;
  auto const take = [](hid_t, unsigned, hid_t scale, void* to) -> herr_t {
    *static_cast<std::string*>(to) = name_of_object(scale);
    return 1;
  };
  H5DSiterate_scales(dataset, dimension, nullptr, take, &name);
  return name.substr(name.rfind('/') + 1);
}

inline bool is_scale_without_values(hid_t dataset) {
  char name[64] = "";
  return H5DSis_scale(dataset) > 0 && H5DSget_scale_name(dataset, name, sizeof name) > 0 &&
         std::string_view(name).starts_with(scale_without_values);
}

// Returns why the elements of a dataset cannot be read; empty if they can.
inline std::string find_obstacle(hid_t dataset) {
  hdf5_object const settings(H5Dget_create_plist(dataset), &H5Pclose);
  if (H5Pget_layout(settings.id()) == H5D_VIRTUAL || H5Pget_external_count(settings.id()) > 0)
    return "lies in other files, which are not opened; copy it into one file, as h5repack does";
  for (int k = 0, filters = H5Pget_nfilters(settings.id()); k < filters; ++k) {
    unsigned flags = 0, about = 0;
    std::size_t none = 0;
    H5Z_filter_t const filter =
        H5Pget_filter2(settings.id(), static_cast<unsigned>(k), &flags, &none, nullptr, 0, nullptr, &about);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      return join_text("is stored by filter ", filter,
                       ", which this HDF5 lacks; install it, or write the file again with another one");
  }
  return {};
}

}  // namespace detail

/// Describes a dataset. @throws ostraka::error if the file is damaged
[[nodiscard]] inline described_dataset describe_dataset(hdf5_file const& file, hid_t dataset, std::string name) {
  described_dataset d;
  tensor_in_file& t = d.tensor;
  t.name = std::move(name);
  d.is_scale_alone = detail::is_scale_without_values(dataset);
  hdf5_object const space(file.require(H5Dget_space(dataset), "cannot be read"), &H5Sclose);
  hdf5_object const type(file.require(H5Dget_type(dataset), "cannot be read"), &H5Tclose);
  hsize_t extents[H5S_MAX_RANK]{}, most[H5S_MAX_RANK]{};
  int const rank = file.require(H5Sget_simple_extent_dims(space.id(), extents, most), "cannot be read");
  for (int k = 0; k < rank; ++k) {
    t.extents.push_back(static_cast<std::int64_t>(extents[k]));
    d.axes.push_back(detail::axis_of_dimension(dataset, static_cast<unsigned>(k)));
  }
  d.grows = rank > 0 && most[0] == H5S_UNLIMITED;
  t.unreadable = detail::find_obstacle(dataset);
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL)
    t.unreadable = "has no elements, not even none; load another dataset";
  if (!find_hdf5_element(type.id(), t.element))
    t.unreadable =
        "has elements that no tensor has; load integers, floating-point or complex numbers, or bools, as h5py writes "
        "them";
  try {
    if (t.unreadable.empty()) static_cast<void>(bytes_of(t.element, t.extents));
  } catch (malformed_header const& e) {
    t.unreadable = join_text("cannot be loaded: ", e.what(), "; load another dataset");
  }
  return d;
}

namespace detail {

// The axes of a dataset in the metadata of tensors: time, I, J
inline std::string text_of_axes(std::vector<std::string> const& axes) {
  std::string text;
  bool named = false;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    append_text(text, d > 0 ? ", " : "", axes[d]);
    named = named || !axes[d].empty();
  }
  return named ? text : std::string();
}

// Returns all names in a file, groups included, without links to other places.
inline std::vector<std::string> names_in_hdf5(hdf5_file const& file) {
  struct found {
    std::vector<std::string> names{};
    bool is_complete = true;
  } all;
  auto const add = [](hid_t, char const* name, H5L_info_t const* link, void* to) -> herr_t {
    auto& of = *static_cast<found*>(to);
    try {
      if (link->type == H5L_TYPE_HARD) of.names.emplace_back(name);
    } catch (...) {  // no exception may pass through the library
      of.is_complete = false;
    }
    return of.is_complete ? 0 : -1;
  };
  file.require(H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, add, &all), "cannot be read");
  return std::move(all.names);
}

// Numbers and texts packed one after the other, for sending.
class packed_text {
 public:
  std::string bytes{};

  void put(std::int64_t n) { bytes.append(reinterpret_cast<char const*>(&n), sizeof n); }
  void put(std::string const& text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes += text;
  }
  std::int64_t number() {
    std::int64_t n = 0;
    std::memcpy(&n, bytes.data() + next_, sizeof n);
    next_ += sizeof n;
    return n;
  }
  std::string text() {
    auto const length = static_cast<std::size_t>(number());
    next_ += length;
    return bytes.substr(next_ - length, length);
  }

 private:
  std::size_t next_ = 0;
};

inline void pack(packed_text& p, file_contents const& c) {
  p.put(static_cast<std::int64_t>(c.tensors.size()));
  for (tensor_in_file const& t : c.tensors) {
    p.put(t.name);
    p.put(t.unreadable);
    p.put(static_cast<std::int64_t>(t.element));
    p.put(static_cast<std::int64_t>(t.extents.size()));
    for (std::int64_t n : t.extents) p.put(n);
  }
  p.put(static_cast<std::int64_t>(c.metadata.size()));
  for (auto const& [key, value] : c.metadata) {
    p.put(key);
    p.put(value);
  }
}

inline file_contents unpack(packed_text& p) {
  file_contents c;
  c.tensors.resize(static_cast<std::size_t>(p.number()));
  for (tensor_in_file& t : c.tensors) {
    t.name = p.text();
    t.unreadable = p.text();
    t.element = static_cast<file_element>(p.number());
    t.extents.resize(static_cast<std::size_t>(p.number()));
    for (std::int64_t& n : t.extents) n = p.number();
  }
  c.metadata.resize(static_cast<std::size_t>(p.number()));
  for (auto& [key, value] : c.metadata) {
    key = p.text();
    value = p.text();
  }
  return c;
}

}  // namespace detail

/// Sends the text of member 0 to all members. Collective.
inline void broadcast_text(communicator const& all, std::string& text) {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(all, &length, 1);
  run_or_fail_together(all, [&] { text.resize(static_cast<std::size_t>(length)); });
  broadcast(all, reinterpret_cast<std::int8_t*>(text.data()), length);
}

/// Returns the datasets of a file, sorted by name. @throws ostraka::error if it is not an HDF5 file, or is damaged
[[nodiscard]] inline file_contents read_hdf5_contents(char const* operation, std::string const& path) {
  hdf5_file const file(operation, path, hdf5_access::reads);
  file_contents c;
  for (std::string const& name : detail::names_in_hdf5(file)) {
    hdf5_object const object(file.require(H5Oopen(file.id(), name.c_str(), H5P_DEFAULT), "cannot be read"), &H5Oclose);
    if (H5Iget_type(object.id()) != H5I_DATASET) continue;
    described_dataset d = describe_dataset(file, object.id(), name);
    if (d.is_scale_alone) continue;
    if (std::string axes = detail::text_of_axes(d.axes); !axes.empty())
      c.metadata.emplace_back(key_of_axes(name), std::move(axes));
    c.tensors.push_back(std::move(d.tensor));
  }
  std::sort(c.tensors.begin(), c.tensors.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
  std::sort(c.metadata.begin(), c.metadata.end());
  return c;
}

}  // namespace ostraka::engine
