// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Lowers the limits of messages (engine/moves/transport.hpp) while an object lives, so that small arrays take the
/// paths of long ones. All ranks make the object.

#include <cstdint>

#include <ostraka/engine/moves/transport.hpp>

namespace ostraka::testing {

/// MPI sends every block with contiguous rows in place.
class blocks_in_place {
 public:
  blocks_in_place() { engine::shortest_block_message = engine::shortest_block_row = 1; }
  ~blocks_in_place() {
    engine::shortest_block_message = message_;
    engine::shortest_block_row = row_;
  }
  blocks_in_place(blocks_in_place const&) = delete;
  blocks_in_place& operator=(blocks_in_place const&) = delete;

 private:
  std::int64_t message_ = engine::shortest_block_message, row_ = engine::shortest_block_row;
};

/// Exchanges travel in rounds of so many bytes to each other device.
class short_rounds {
 public:
  explicit short_rounds(std::int64_t bytes) {
    engine::bytes_of_round = 1;
    engine::shortest_piece_of_round = bytes;
  }
  ~short_rounds() {
    engine::bytes_of_round = round_;
    engine::shortest_piece_of_round = piece_;
  }
  short_rounds(short_rounds const&) = delete;
  short_rounds& operator=(short_rounds const&) = delete;

 private:
  std::int64_t round_ = engine::bytes_of_round, piece_ = engine::shortest_piece_of_round;
};

}  // namespace ostraka::testing
