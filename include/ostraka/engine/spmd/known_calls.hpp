// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The calls that the members of a group have compared: their descriptions, each with a fingerprint. All
/// members make a call with the same description, or all throw an error. So all know the same calls, and a member can
/// tell without a message whether a call is known. A key stands for the description of a call; a member computes the
/// key without building the description.

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

class known_calls {
 public:
  static constexpr std::size_t most = 4096;  ///< descriptions; further calls of the group are not compared
  static constexpr int most_members = 256;   ///< of a group that compares first runs: each sends to each

  /// Returns a number that stands for a description: even, never 0.
  [[gnu::cold]] static std::uint64_t fingerprint(std::string const& words) {
    std::uint64_t n = 14695981039346656037u;  // FNV-1a
    for (char const c : words) n = (n ^ static_cast<unsigned char>(c)) * 1099511628211u;
    n = (n ^ n >> 29) * 0xBF58476D1CE4E5B9u;
    return ((n ^ n >> 32) | 2u) & ~std::uint64_t{1};
  }

  /// Returns the fingerprint of the description that belongs to a key; 0 if there is none yet.
  [[nodiscard]] std::uint64_t find(std::uint64_t key) const {
    if (places_.empty()) return 0;
    std::size_t const last = places_.size() - 1;
    for (std::size_t at = key & last; places_[at].fingerprint != 0; at = (at + 1) & last)
      if (places_[at].key == key) return places_[at].fingerprint;
    return 0;
  }

  [[nodiscard, gnu::cold]] bool knows(std::uint64_t fingerprint) const { return find(fingerprint) != 0; }
  [[nodiscard]] bool is_full() const { return words_.size() >= most; }

  /// Adds a description. @pre it is not known
  [[gnu::cold]] void add(std::uint64_t fingerprint, std::string const& words) {
    words_.push_back({fingerprint, words});
    add_key(fingerprint, fingerprint);
  }

  /// Adds a key for a description. Forgets the keys once there are very many.
  [[gnu::cold]] void add_key(std::uint64_t key, std::uint64_t fingerprint) {
    if (find(key) != 0) return;
    if (2 * (count_ + 1) > places_.size()) grow();
    put(key, fingerprint);
  }

  /// Returns the description with this fingerprint; empty if it is not known.
  [[nodiscard, gnu::cold]] std::string words(std::uint64_t fingerprint) const {
    for (known const& k : words_)
      if (k.fingerprint == fingerprint) return k.words;
    return {};
  }

 private:
  struct place {
    std::uint64_t key = 0;
    std::uint64_t fingerprint = 0;  // 0: a free place
  };
  struct known {
    std::uint64_t fingerprint = 0;
    std::string words;
  };

  void put(std::uint64_t key, std::uint64_t fingerprint) {
    std::size_t at = key & (places_.size() - 1);
    while (places_[at].fingerprint != 0) at = (at + 1) & (places_.size() - 1);
    places_[at] = {key, fingerprint};
    ++count_;
  }

  [[gnu::cold]] void grow() {
    constexpr std::size_t first = 64, longest = std::size_t{1} << 16;
    dynamic_array<place> const before = std::move(places_);
    bool const forgets = before.size() >= longest;
    places_ = {};
    places_.resize(before.empty() ? first : forgets ? longest : 2 * before.size());
    count_ = 0;
    if (forgets)
      for (known const& k : words_) put(k.fingerprint, k.fingerprint);
    else
      for (place const& p : before)
        if (p.fingerprint != 0) put(p.key, p.fingerprint);
  }

  dynamic_array<known> words_;
  dynamic_array<place> places_;  // indexed by the lowest bits of keys; a power of two, half of them free
  std::size_t count_ = 0;
};

}  // namespace ostraka::engine
