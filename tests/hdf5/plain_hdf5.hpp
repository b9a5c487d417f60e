// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// HDF5 files as HDF5's C interface reads and writes them, on one rank: the oracle of the tests.

#include <hdf5.h>
#include <hdf5_hl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/mpi_main.hpp"

namespace ostraka::testing {

/// A dataset, whose elements are bytes as they stand in the file.
struct plain_dataset {
  std::vector<std::int64_t> extents{};
  std::string bytes{};
  std::vector<std::string> labels{};  ///< of its dimensions
  std::vector<std::string> scales{};  ///< the names of their first scales
  std::vector<std::int64_t> chunk{};  ///< none: one run
  bool is_there = false;
};

/// Reads a dataset on this rank.
inline plain_dataset read_plain(std::string const& path, std::string const& name) {
  plain_dataset d;
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return d;
  hid_t const set = H5Dopen2(file, name.c_str(), H5P_DEFAULT), space = H5Dget_space(set), type = H5Dget_type(set);
  hsize_t extents[H5S_MAX_RANK]{};
  int const rank = H5Sget_simple_extent_dims(space, extents, nullptr);
  d.is_there = set >= 0;
  std::size_t elements = 1;
  for (int k = 0; k < rank; ++k) {
    elements *= static_cast<std::size_t>(extents[k]);
    d.extents.push_back(static_cast<std::int64_t>(extents[k]));
    char label[64] = "", scale[64] = "";
    H5DSget_label(set, static_cast<unsigned>(k), label, sizeof label);
    auto const take = [](hid_t, unsigned, hid_t of, void* to) -> herr_t {
      return H5Iget_name(of, static_cast<char*>(to), 64) < 0 ? -1 : 1;
    };
    if (H5DSget_num_scales(set, static_cast<unsigned>(k)) > 0)
      H5DSiterate_scales(set, static_cast<unsigned>(k), nullptr, take, scale);
    d.labels.emplace_back(label);
    d.scales.emplace_back(scale);
  }
  hid_t const settings = H5Dget_create_plist(set);
  if (H5Pget_layout(settings) == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK]{};
    H5Pget_chunk(settings, rank, chunk);
    d.chunk.assign(chunk, chunk + rank);
  }
  d.bytes.resize(elements * H5Tget_size(type));
  if (!d.bytes.empty() && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, d.bytes.data()) < 0) d.is_there = false;
  H5Pclose(settings);
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return d;
}

/// f(file) on rank 0, in a new file. Collective.
template <class F>
void write_plain_hdf5(std::string const& path, F const& f) {
  numbers_of_ranks(0);
  if (rank() == 0) {
    hid_t const file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    f(file);
    H5Fclose(file);
  }
  numbers_of_ranks(0);
}

/// Makes a dataset of these elements, of type `in_file` there and `in_memory` here. @returns the dataset, for more
inline void make_plain(hid_t file, char const* name, std::vector<hsize_t> const& extents, hid_t in_file,
                       hid_t in_memory, void const* elements, std::vector<char const*> const& labels = {}) {
  hid_t const space = extents.empty() ? H5Screate(H5S_SCALAR)
                                      : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  hid_t const set = H5Dcreate2(file, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (elements != nullptr) H5Dwrite(set, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements);
  for (std::size_t k = 0; k < labels.size(); ++k) H5DSset_label(set, static_cast<unsigned>(k), labels[k]);
  H5Dclose(set);
  H5Sclose(space);
}

}  // namespace ostraka::testing
