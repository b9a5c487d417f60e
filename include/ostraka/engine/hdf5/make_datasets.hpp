// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Creates and extends datasets, on one device alone; the blocks of all devices are written later. The axes of
/// datasets are dimension scales.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/hdf5/dataset_blocks.hpp>
#include <ostraka/engine/hdf5/hdf5_contents.hpp>
#include <ostraka/engine/hdf5/hdf5_elements.hpp>
#include <ostraka/engine/hdf5/hdf5_library.hpp>
#include <ostraka/engine/hdf5/plan_datasets.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

inline std::vector<hsize_t> as_hsizes(std::vector<std::int64_t> const& extents) {
  return std::vector<hsize_t>(extents.begin(), extents.end());
}

// Makes a dataspace. A dataset that grows has an unlimited first dimension. A chunk has at least one element, even if
// the extent is 0.
inline hdf5_object space_of(new_dataset const& d) {
  if (d.extents.empty()) return {H5Screate(H5S_SCALAR), &H5Sclose};
  std::vector<hsize_t> const extents = as_hsizes(d.extents);
  std::vector<hsize_t> most = extents;
  for (std::size_t k = 0; k < most.size(); ++k)
    if (d.grows && (k == 0 || most[k] == 0)) most[k] = H5S_UNLIMITED;
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), most.data()), &H5Sclose};
}

// Allocates space early, because devices that write together cannot allocate it. Without compression nothing is written
// to it before the blocks.
inline hdf5_object settings_of(hdf5_file const& file, new_dataset const& d) {
  hdf5_object settings(file.require(H5Pcreate(H5P_DATASET_CREATE), "cannot be written"), &H5Pclose);
  H5Pset_obj_track_times(settings.id(), false);
  H5Pset_alloc_time(settings.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(settings.id(), d.compression > 0 ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
  if (d.chunk.empty()) return settings;
  file.require(H5Pset_chunk(settings.id(), static_cast<int>(d.chunk.size()), as_hsizes(d.chunk).data()),
               "has no such chunks");
  if (d.compression == 0) return settings;
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
    throw_error(file.operation(), ": ", file.path(),
                " is to be deflated, and this HDF5 was built without zlib; leave .deflated out");
  file.require(H5Pset_shuffle(settings.id()), "cannot be shuffled");
  file.require(H5Pset_deflate(settings.id(), static_cast<unsigned>(d.compression)), "cannot be deflated");
  return settings;
}

// The dimension scales of a new file, one for each axis and extent.
class new_scales {
 public:
  explicit new_scales(hdf5_file const& file) : file_(file) {}

  void add(std::string const& axis, hdf5_object&& dataset, std::int64_t extent) {
    file_.require(H5DSset_scale(dataset.id(), axis.c_str()), "cannot be written");
    scales_.push_back({axis, extent, std::move(dataset), 0});
  }

  // Gives a dimension of a dataset its label and its scale.
  void attach(hid_t dataset, unsigned dimension, std::string const& axis, std::int64_t extent, bool grows) {
    file_.require(H5DSset_label(dataset, dimension, axis.c_str()), "cannot be written");
    scale& s = of(axis, extent, grows);
    if (++s.datasets > most_datasets) return;
    file_.require(H5DSattach_scale(dataset, s.dataset.id(), dimension), "cannot be written");
  }

 private:
  struct scale {
    std::string axis{};
    std::int64_t extent = 0;
    hdf5_object dataset{};
    int datasets = 0;
  };
  static constexpr int most_datasets = 1000;  // a scale lists its datasets in an attribute of at most 64 KiB

  scale& of(std::string const& axis, std::int64_t extent, bool grows) {
    bool is_first = true;
    for (scale& s : scales_) {
      if (s.axis == axis && s.extent == extent) return s;
      is_first = is_first && s.axis != axis;
    }
    new_dataset d;
    d.extents = {extent};
    d.grows = grows;
    hdf5_object const space = space_of(d), settings(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    H5Pset_obj_track_times(settings.id(), false);
    hsize_t const chunk = 1024;
    if (grows) H5Pset_chunk(settings.id(), 1, &chunk);
    std::string name = is_first ? axis : join_text(axis, '_', extent);
    while (!is_first && H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0) name += '_';
    hdf5_object dataset(file_.require(H5Dcreate2(file_.id(), name.c_str(), H5T_IEEE_F32BE, space.id(), H5P_DEFAULT,
                                                 settings.id(), H5P_DEFAULT),
                                      "cannot be written"),
                        &H5Dclose);
    file_.require(H5DSset_scale(dataset.id(), std::string(scale_without_values).c_str()), "cannot be written");
    scales_.push_back({axis, extent, std::move(dataset), 0});
    return scales_.back();
  }

  hdf5_file const& file_;
  std::vector<scale> scales_;
};

}  // namespace detail

/// Creates the datasets in an empty file, without their elements. @throws ostraka::error
inline void make_datasets(char const* operation, std::string const& path, std::vector<new_dataset> const& all) {
  hdf5_file file(operation, path, hdf5_access::makes);
  hdf5_object const link(file.require(H5Pcreate(H5P_LINK_CREATE), "cannot be written"), &H5Pclose);
  H5Pset_create_intermediate_group(link.id(), 1);
  H5Pset_char_encoding(link.id(), H5T_CSET_UTF8);
  std::vector<hdf5_object> made;
  detail::new_scales scales(file);
  for (new_dataset const& d : all) {
    hdf5_object const type = hdf5_type_of(d.element), space = detail::space_of(d);
    hdf5_object const settings = detail::settings_of(file, d);
    hdf5_object dataset(file.require(H5Dcreate2(file.id(), d.name.c_str(), type.id(), space.id(), link.id(),
                                                settings.id(), H5P_DEFAULT),
                                     "cannot be written"),
                        &H5Dclose);
    if (d.is_scale()) file.require(H5DSset_label(dataset.id(), 0, d.axes[0].c_str()), "cannot be written");
    if (d.is_scale()) scales.add(d.axes[0], std::move(dataset), d.extents[0]);
    made.push_back(std::move(dataset));
  }
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t i = 0; made[k].is_there() && i < all[k].axes.size(); ++i)
      scales.attach(made[k].id(), static_cast<unsigned>(i), all[k].axes[i], all[k].extents[i], all[k].grows && i == 0);
  made.clear();
  file.close();
}

namespace detail {

// Checks that the dataset has the elements and extents of the appended tensor, and grows along this axis.
inline void require_growing(hdf5_file const& file, described_dataset const& is, new_dataset const& d) {
  auto const fail = [&](auto const&... what) {
    throw_error(file.operation(), ": ", d.name, " in ", file.path(), ' ', what...);
  };
  tensor_in_file const& t = is.tensor;
  if (!is.grows)
    fail("has a fixed number of indices along its first dimension; append to a file that os::append has made");
  if (!t.unreadable.empty()) fail(t.unreadable);
  if (!is.axes[0].empty() && is.axes[0] != d.axes[0])
    fail("grows along ", is.axes[0], ", and not along ", d.axes[0], "; append along the axis of the file");
  if (t.element != d.element)
    fail("has elements ", names_of(t.element).descr, ", and ", names_of(d.element).descr,
         " are appended; append elements of the file's type");
  bool fits = t.extents.size() == d.extents.size();
  for (std::size_t k = 1; fits && k < t.extents.size(); ++k) {
    fits = t.extents[k] == d.extents[k];
    if (!is.axes[k].empty() && is.axes[k] != d.axes[k])
      for (std::string const& other : is.axes)
        if (other == d.axes[k])
          fail("has the axes ", text_of_axes(is.axes), ", and (", text_of_axes(d.axes),
               ") are appended; os::copy what is appended into the order of the file");
  }
  if (!fits)
    fail("has the extents ", describe_extents(t.extents), " and is appended to by ",
         describe_extents({d.extents.begin() + 1, d.extents.end()}), "; append tensors of the same extents");
}

inline hdf5_object open_dataset(hdf5_file const& file, std::string const& name) {
  return {H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), &H5Dclose};
}

// Extends the scale of an axis without values with its datasets.
inline void extend_scale(hdf5_file const& file, std::string const& axis, hsize_t extent) {
  if (H5Lexists(file.id(), axis.c_str(), H5P_DEFAULT) <= 0) return;
  hdf5_object const scale = open_dataset(file, axis);
  if (!scale.is_there() || !is_scale_without_values(scale.id())) return;
  described_dataset const is = describe_dataset(file, scale.id(), axis);
  if (is.grows && is.tensor.extents.size() == 1) file.require(H5Dset_extent(scale.id(), &extent), "cannot be written");
}

// Allocates space for an index by writing zeros, unless the dataset allocates early. Datasets of other programs may
// not, and some releases of HDF5 write in parallel to space that does not exist.
inline void make_room(hdf5_file const& file, hid_t dataset, new_dataset const& d, std::int64_t index) {
  hdf5_object const settings(H5Dget_create_plist(dataset), &H5Pclose);
  H5D_alloc_time_t when = H5D_ALLOC_TIME_DEFAULT;
  if (H5Pget_alloc_time(settings.id(), &when) >= 0 && when == H5D_ALLOC_TIME_EARLY) return;
  file_block all;
  all.element = d.element;
  all.block.rank = static_cast<int>(d.extents.size()) - 1;
  for (int k = 0; k < all.block.rank; ++k) all.block.at[k] = {0, d.extents[static_cast<std::size_t>(k) + 1]};
  std::vector<dataset_place> places(d.extents.size());
  places[0] = {index, true};
  cut_box const cut(all, usual_chunk_bytes);
  hdf5_object const type = hdf5_type_of(d.element);
  std::vector<char> zeros;
  for (std::int64_t r = 0, begin = 0; r < cut.count(); ++r) {
    box const b = cut.at(r, begin);
    auto const elements = static_cast<hsize_t>(b.size());
    zeros.resize(static_cast<std::size_t>(b.size() * bytes_of(d.element)));
    hdf5_object const space(file.require(H5Dget_space(dataset), "has no room"), &H5Sclose);
    hdf5_object const in_memory(file.require(H5Screate_simple(1, &elements, nullptr), "has no room"), &H5Sclose);
    static_cast<void>(select_box(space.id(), &b, places));
    file.require(H5Dwrite(dataset, type.id(), in_memory.id(), space.id(), H5P_DEFAULT, zeros.data()), "has no room");
  }
}

}  // namespace detail

/// Extends each of these datasets by one index. @returns that index @throws ostraka::error, before any dataset is
/// extended, if one cannot be appended to
[[nodiscard]] inline std::int64_t extend_datasets(char const* operation, std::string const& path,
                                                  std::vector<new_dataset> const& all) {
  hdf5_file file(operation, path, hdf5_access::writes);
  std::vector<hdf5_object> datasets;
  std::vector<std::vector<std::int64_t>> extents;
  for (new_dataset const& d : all) {
    hdf5_object dataset = detail::open_dataset(file, d.name);
    if (!dataset.is_there())
      throw_error(operation, ": ", path, " has no dataset called ", d.name,
                  "; append the tensors that were there when the file was made");
    described_dataset const is = describe_dataset(file, dataset.id(), d.name);
    detail::require_growing(file, is, d);
    extents.push_back(is.tensor.extents);
    if (extents.back()[0] != extents.front()[0])
      throw_error(operation, ": datasets that grow together have as many indices along ", d.axes[0], ", and in ", path,
                  ' ', all.front().name, " has ", extents.front()[0], ", ", d.name, ' ', extents.back()[0],
                  "; append the same tensors each time");
    datasets.push_back(std::move(dataset));
  }
  std::int64_t const index = extents.empty() ? 0 : extents.front()[0];
  for (std::size_t k = 0; k < all.size(); ++k) {
    ++extents[k][0];
    file.require(H5Dset_extent(datasets[k].id(), detail::as_hsizes(extents[k]).data()), "has no room");
    detail::make_room(file, datasets[k].id(), all[k], index);
  }
  if (!all.empty()) detail::extend_scale(file, all.front().axes[0], static_cast<hsize_t>(index + 1));
  datasets.clear();
  file.close();
  return index;
}

}  // namespace ostraka::engine
