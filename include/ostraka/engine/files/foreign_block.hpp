// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The pieces of a device's block that move between a file and memory, and blocks that a file stores in
/// another form than memory: in another order, or in another element type.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ostraka/engine/files/convert_elements.hpp>
#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_piece.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/plan/blocks/box.hpp>

namespace ostraka::engine {

namespace detail {

// `strides`: strides in the file, in elements, the largest first.
inline void add_pieces(std::vector<piece_in_memory>& pieces, file_block const& b, file_use use, std::int64_t at,
                       std::vector<std::int64_t> const& strides) {
  if (!b.here) return;
  auto const carry = use == file_use::reads ? b.to_device : b.to_host;
  cut_block(b.block, strides.data(), bytes_of(b.element), at, b.memory, file_round_bytes, [&](file_piece const& p) {
    pieces.push_back(piece_in_memory{p, carry});
  });
}

// The dimensions of a tensor in the order of the file: the largest stride first.
inline std::vector<std::size_t> order_in_file(std::vector<std::int64_t> const& strides) {
  std::vector<std::size_t> order(strides.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  for (std::size_t d = 1; d < order.size(); ++d)
    for (std::size_t e = d; e > 0 && strides[order[e]] > strides[order[e - 1]]; --e) std::swap(order[e], order[e - 1]);
  return order;
}

// Calls f(row-major position, position in this order of the dimensions) for each element of a block, in elements.
template <class F>
void for_each_place(box const& block, std::vector<std::size_t> const& order, F const& f) {
  std::int64_t const n = block.size();
  std::int64_t index[max_rank]{}, step[max_rank]{};
  std::int64_t next = 1;
  for (std::size_t k = order.size(); k-- > 0; next *= block.at[order[k]].size()) step[order[k]] = next;
  for (std::int64_t i = 0, at = 0; i < n; ++i) {
    f(i, at);
    for (int d = block.rank - 1; d >= 0; --d) {
      at += step[d];
      if (++index[d] < block.at[d].size()) break;
      at -= step[d] * index[d];
      index[d] = 0;
    }
  }
}

// True if the file and memory store the elements in different orders.
inline bool has_other_order(tensor_in_file const& t) {
  auto const order = order_in_file(strides_of(t));
  return !std::is_sorted(order.begin(), order.end());
}

// The same block, with the element type of the file.
inline file_block in_elements_of_file(file_block b, tensor_in_file const& t) {
  b.element = t.element;
  return b;
}

// A block in the form of the file, which differs from that of the tensor: the other byte order, columns before rows,
// bools that are neither 0 nor 1, or another number type. A block that is written differs only in its order.
class foreign_block {
 public:
  foreign_block(file_block const& block, tensor_in_file const& t)
      : block_(block),
        in_file_(in_elements_of_file(block, t)),
        strides_(strides_of(t)),
        order_(order_in_file(strides_)),
        other_order_(t.other_order),
        read_(std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(in_file_.bytes()))) {}

  static bool is_one(placed_block const& b, file_use use) {
    tensor_in_file const& t = *b.tensor;
    return has_other_order(t) || (use == file_use::reads && (t.other_order || t.element == file_element::boolean ||
                                                             t.element != b.block.element));
  }

  // The block in the form of the file, in host memory.
  [[nodiscard]] file_block as_in_file() const {
    file_block b = in_file_;
    b.memory = read_.get();
    b.to_device = nullptr;
    b.to_host = nullptr;
    return b;
  }

  // Adds the pieces to move, with the dimensions in the order of the file.
  void add_to(std::vector<piece_in_memory>& pieces, std::int64_t at) const {
    file_block b = as_in_file();
    std::vector<std::int64_t> strides;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      b.block.at[k] = in_file_.block.at[order_[k]];
      strides.push_back(strides_[order_[k]]);
    }
    add_pieces(pieces, b, file_use::reads, at, strides);
  }

  // Copies the elements from memory, in the order of the file.
  void fill() const {
    std::unique_ptr<char[]> seen;
    char const* from = block_.memory;
    if (block_.to_host != nullptr) {
      seen = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(block_.bytes()));
      block_.to_host(seen.get(), block_.memory, block_.bytes());
      from = seen.get();
    }
    auto const size = static_cast<std::size_t>(bytes_of(block_.element));
    for_each_place(block_.block, order_, [&](std::int64_t here, std::int64_t there) {
      std::memcpy(read_.get() + static_cast<std::size_t>(there) * size, from + static_cast<std::size_t>(here) * size,
                  size);
    });
  }

  // Copies the elements that were read to their place in memory, converted.
  void settle() {
    std::int64_t const bytes = in_file_.bytes();
    if (other_order_) {
      int const n = names_of(in_file_.element).number_bytes;
      for (char* at = read_.get(); at < read_.get() + bytes; at += n) std::reverse(at, at + n);
    }
    if (in_file_.element == file_element::boolean)
      for (std::int64_t i = 0; i < bytes; ++i)
        read_[static_cast<std::size_t>(i)] = read_[static_cast<std::size_t>(i)] != 0 ? 1 : 0;
    if (!std::is_sorted(order_.begin(), order_.end())) {
      auto turned = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
      auto const size = static_cast<std::size_t>(bytes_of(in_file_.element));
      for_each_place(block_.block, order_, [&](std::int64_t here, std::int64_t there) {
        std::memcpy(turned.get() + static_cast<std::size_t>(here) * size,
                    read_.get() + static_cast<std::size_t>(there) * size, size);
      });
      read_ = std::move(turned);
    }
    if (bytes == 0) return;
    bool const converted = in_file_.element != block_.element;
    if (converted && block_.to_device == nullptr) return convert(block_.memory);
    if (converted) {
      auto become = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(block_.bytes()));
      convert(become.get());
      read_ = std::move(become);
    }
    if (block_.to_device != nullptr)
      block_.to_device(block_.memory, read_.get(), block_.bytes());
    else
      std::memcpy(block_.memory, read_.get(), static_cast<std::size_t>(bytes));
  }

 private:
  void convert(char* to) const {
    convert_elements(in_file_.element, read_.get(), block_.element, to, block_.block.size());
  }

  file_block block_;
  file_block in_file_;
  std::vector<std::int64_t> strides_;
  std::vector<std::size_t> order_;
  bool other_order_;
  std::unique_ptr<char[]> read_;
};

// The number of leading blocks to move together. They are in one part, one after the other, as MPI-IO requires; the
// columns of one tensor are not. Blocks in another form than memory need a buffer each, and together no more than a
// round. `most`: the most bytes that any device has of each block.
inline std::size_t count_together(std::span<placed_block const> blocks, std::span<std::int64_t const> most,
                                  file_use use) {
  std::size_t const part = blocks.front().tensor->part;
  std::size_t count = 0;
  std::int64_t room = 0, end = 0;
  for (; count < blocks.size() && blocks[count].tensor->part == part; ++count) {
    if (foreign_block::is_one(blocks[count], use)) room += most[count];
    if (count > 0 && (room > file_round_bytes || blocks[count].tensor->begin < end)) break;
    end = blocks[count].tensor->end;
  }
  return count;
}

}  // namespace detail

}  // namespace ostraka::engine
