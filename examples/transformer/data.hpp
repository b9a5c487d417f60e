// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Batches of a text's bytes. A batch is a function of the seed and the step alone: it is the same on every mesh, and a
/// run that continues from a checkpoint sees the same batches. Each device makes its part; nothing moves.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <ostraka/operations.hpp>

#include "names.hpp"
#include "settings.hpp"

namespace transformer {

using bytes_of_text = Kokkos::View<unsigned char*, Kokkos::DefaultExecutionSpace::device_type>;

/// Every process reads it. @throws refusal
inline bytes_of_text read_text(std::string const& file, std::int64_t length) {
  std::ifstream in(file, std::ios::binary);
  std::string const all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw refusal("text: " + file + " cannot be read");
  if (static_cast<std::int64_t>(all.size()) <= length)
    throw refusal("text: " + file + " has " + std::to_string(all.size()) +
                  " bytes, but a sequence and what comes next " + std::to_string(length + 1));
  bytes_of_text const text("text", all.size());
  Kokkos::deep_copy(text, Kokkos::View<unsigned char const*, Kokkos::HostSpace>(
                              reinterpret_cast<unsigned char const*>(all.data()), all.size()));
  return text;
}

namespace detail {

/// splitmix64
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Byte s of sequence b of a step.
struct byte_of_batch {
  bytes_of_text text;
  std::uint64_t key;
  std::int64_t length, ahead, first;

  KOKKOS_FUNCTION std::int32_t operator()(std::int64_t b, std::int64_t s) const {
    auto const starts = static_cast<std::uint64_t>(text.extent(0)) - static_cast<std::uint64_t>(length);
    std::uint64_t const start = mixed(key + static_cast<std::uint64_t>(first + b)) % starts;
    return text(start + static_cast<std::uint64_t>(s + ahead));
  }
};

}  // namespace detail

/// The sequences of a step, and the byte that follows each byte.
template <class Tokens>
struct batch {
  Tokens tokens, next;
};

/// The sequences of a step from number `first` on, for a step that goes through them in parts.
template <auto Rules, class Mesh>
auto batch_of(Mesh const& m, bytes_of_text const& text, settings const& o, std::int64_t step, std::int64_t first = 0) {
  using tokens = os::tensor_under<Rules, std::int32_t, B, S>;
  auto const key = os::fold_in(os::seed(o.seed), static_cast<std::uint64_t>(step)).value;
  auto const bytes = [&](std::int64_t ahead) {
    return os::generate<tokens>(m, B = o.batch, S = o.length, detail::byte_of_batch{text, key, o.length, ahead, first});
  };
  return batch<tokens>{bytes(0), bytes(1)};
}

}  // namespace transformer
