// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Moves blocks between tensors and datasets of an HDF5 file that all devices have open, in rounds of a
/// bounded number of bytes. All devices take part in all rounds, even without elements, because compressed chunks and
/// collective MPI calls require it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/hdf5/hdf5_elements.hpp>
#include <ostraka/engine/hdf5/hdf5_library.hpp>
#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A block, its dataset, and its position in the dataset.
struct dataset_block {
  std::string name{};
  file_block block{};
  std::vector<dataset_place> places{};  ///< along the dataset's dimensions; empty: the tensor is all of it
};

namespace detail {

// Splits a block into boxes of a bounded number of bytes, each contiguous in memory.
class cut_box {
 public:
  cut_box(file_block const& b, std::int64_t longest) : block_(b.block), bytes_(bytes_of(b.element)) {
    if (!b.here || block_.size() == 0) return;
    int const rank = block_.rank;
    while (cut_ < rank && inner(cut_) > longest) ++cut_;
    if (cut_ == rank && rank > 0) --cut_;
    count_ = 1;
    for (int d = 0; d < cut_; ++d) count_ *= block_.at[d].size();
    if (rank == 0) return;
    part_ = std::max<std::int64_t>(1, longest / inner(cut_));
    along_ = (block_.at[cut_].size() + part_ - 1) / part_;
    count_ *= along_;
  }

  [[nodiscard]] std::int64_t count() const { return count_; }

  // Returns box number r; `begin` gets its offset in memory, in bytes.
  [[nodiscard]] box at(std::int64_t r, std::int64_t& begin) const {
    box b = block_;
    begin = 0;
    if (b.rank == 0) return b;
    std::int64_t const i = r % along_ * part_;
    planner::range const& whole = block_.at[cut_];
    b.at[cut_] = {whole.begin + i, std::min(whole.end, whole.begin + i + part_)};
    begin = i * inner(cut_);
    r /= along_;
    for (int d = cut_ - 1; d >= 0; --d) {
      std::int64_t const k = r % block_.at[d].size();
      b.at[d] = {block_.at[d].begin + k, block_.at[d].begin + k + 1};
      begin += k * inner(d);
      r /= block_.at[d].size();
    }
    return b;
  }

 private:
  // The bytes of one index of dimension d.
  [[nodiscard]] std::int64_t inner(int d) const {
    std::int64_t n = bytes_;
    for (int e = d + 1; e < block_.rank; ++e) n *= block_.at[e].size();
    return n;
  }

  box block_;
  std::int64_t bytes_;
  int cut_ = 0;
  std::int64_t part_ = 1, along_ = 1, count_ = 0;
};

// Selects a box in a dataset's space, or nothing.
inline bool select_box(hid_t space, box const* b, std::vector<dataset_place> const& places) {
  if (b == nullptr) return H5Sselect_none(space) >= 0;
  int const rank = H5Sget_simple_extent_ndims(space);
  if (rank != (places.empty() ? b->rank : static_cast<int>(places.size()))) return false;
  if (rank == 0) return H5Sselect_all(space) >= 0;
  hsize_t begin[H5S_MAX_RANK]{}, count[H5S_MAX_RANK]{};
  int d = 0;
  for (int k = 0; k < rank; ++k) {
    dataset_place const p = places.empty() ? dataset_place() : places[static_cast<std::size_t>(k)];
    begin[k] = static_cast<hsize_t>(p.begin + (p.is_fixed ? 0 : b->at[d].begin));
    count[k] = p.is_fixed ? 1 : static_cast<hsize_t>(b->at[d++].size());
  }
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, count, nullptr) >= 0 && H5Sselect_valid(space) > 0;
}

// The rounds of one dataset.
class dataset_in_rounds {
 public:
  dataset_in_rounds(hdf5_file const& file, hid_t transfer, file_use use, dataset_block const& of)
      : file_(file), transfer_(transfer), use_(use), of_(of), cut_(of.block, file_round_bytes) {
    run_or_fail_together(file_.all(), [&] {
      file_.all().enter();
      dataset_ = {file_.require(H5Dopen2(file_.id(), of.name.c_str(), H5P_DEFAULT), words()), &H5Dclose};
      type_ = hdf5_type_of(of.block.element);
    });
  }

  [[nodiscard]] static std::int64_t rounds(file_block const& b) { return cut_box(b, file_round_bytes).count(); }

  // Does round r, in which this device may have no elements. Collective.
  void move(std::int64_t r) {
    std::int64_t begin = 0;
    bool const here = r < cut_.count();
    box const b = here ? cut_.at(r, begin) : box();
    std::int64_t const bytes = here ? b.size() * bytes_of(of_.block.element) : 0;
    auto const carry = use_ == file_use::writes ? of_.block.to_host : of_.block.to_device;
    char* const memory = here ? of_.block.memory + begin : nullptr;
    run_or_fail_together(file_.all(), [&] {
      space_ = {file_.require(H5Dget_space(dataset_.id()), words()), &H5Sclose};
      if (!select_box(space_.id(), here ? &b : nullptr, of_.places))
        throw_error(file_.operation(), ": ", of_.name, " in ", file_.path(),
                    " has changed while it was used; see that no other program writes to the file");
      hsize_t const elements = here ? static_cast<hsize_t>(b.size()) : 1;
      in_memory_ = {file_.require(H5Screate_simple(1, &elements, nullptr), words()), &H5Sclose};
      if (!here) H5Sselect_none(in_memory_.id());
      if (carry == nullptr || !here) return;
      if (!staged_) staged_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));  // the largest
      if (use_ == file_use::writes) carry(staged_.get(), memory, bytes);
    });
    char none = 0;
    char* const data = !here ? &none : carry != nullptr ? staged_.get() : memory;
    file_.all().enter();
    herr_t const done = use_ == file_use::writes
                            ? H5Dwrite(dataset_.id(), type_.id(), in_memory_.id(), space_.id(), transfer_, data)
                            : H5Dread(dataset_.id(), type_.id(), in_memory_.id(), space_.id(), transfer_, data);
    throw_alike(file_.all(), done < 0 ? file_.text_of(words(), words_of_hdf5()) : std::string());
    (use_ == file_use::reads ? traffic_of_files.read : traffic_of_files.written) += bytes;
    if (use_ == file_use::reads && here && carry != nullptr) carry(memory, staged_.get(), bytes);
  }

 private:
  [[nodiscard]] char const* words() const { return use_ == file_use::writes ? "cannot be written" : "cannot be read"; }

  hdf5_file const& file_;
  hid_t transfer_;
  file_use use_;
  dataset_block const& of_;
  cut_box cut_;
  hdf5_object dataset_, type_, space_, in_memory_;
  std::unique_ptr<char[]> staged_;
};

}  // namespace detail

/// Moves the blocks of all devices, dataset by dataset; all devices pass the same datasets in the same order.
/// Collective. @throws ostraka::error, on all devices alike
inline void move_dataset_blocks(hdf5_file const& file, file_use use, std::vector<dataset_block> const& blocks) {
  communicator const& all = file.all();
  std::vector<std::int64_t> rounds;
  for (dataset_block const& b : blocks) rounds.push_back(detail::dataset_in_rounds::rounds(b.block));
  if (!rounds.empty()) all.find_largest(rounds.data(), static_cast<int>(rounds.size()));
  hdf5_object const transfer(H5Pcreate(H5P_DATASET_XFER), &H5Pclose);
#if OSTRAKA_ENABLE_MPI
  if (all.size() > 1) H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
#endif
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (rounds[k] == 0) continue;
    detail::dataset_in_rounds one(file, transfer.id(), use, blocks[k]);
    for (std::int64_t r = 0; r < rounds[k]; ++r) one.move(r);
  }
}

}  // namespace ostraka::engine
