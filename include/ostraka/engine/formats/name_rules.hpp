// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Rules that map names of one side to names of the other, in both directions: the leaves of a tree, and the
/// tensors of a file.
///
///     layers.{}.query            model.layers.{}.self_attn.q_proj.weight
///     dense.{}.*                 model.layers.{:3}.*              numbers below 3
///     sparse.{}.*                model.layers.{3:}.*              from 3 on: number i is 3 + i
///     attention.{}.*             model.layers.{4::8}.*            4, 12, 20, …
///
/// {} matches the number of a list's element. In a file's name it may be a slice in Python's notation, begin:end:step.
/// A * at the end matches any rest. Matching reads a name once from its beginning, so it takes linear time.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// One side of a rule.
class name_pattern {
 public:
  /// @throws ostraka::error if the text is not a valid pattern
  name_pattern(std::string_view text, bool may_slice) : text_(text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      std::size_t const end = rest.find_first_of("{}*");
      literals_.back().append(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      if (rest[end] == '*') {
        if (end + 1 != rest.size()) fail("* stands at its end, for any rest");
        has_rest_ = true;
        break;
      }
      std::size_t const close = rest.find('}', end);
      if (rest[end] == '}' || close == std::string_view::npos) fail("a number is {}, or a slice of numbers as {3:}");
      add_slice(rest.substr(end + 1, close - end - 1), may_slice);
      rest = rest.substr(close + 1);
    }
  }

  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::size_t numbers() const { return slices_.size(); }
  [[nodiscard]] bool has_rest() const { return has_rest_; }

  struct parts {
    std::vector<std::int64_t> numbers{};
    std::string_view rest{};
  };

  /// Returns true if a name matches; `found` gets the texts for {} and *, with numbers counted from 0.
  [[nodiscard]] bool match(std::string_view name, parts& found) const {
    found.numbers.clear();
    for (std::size_t k = 0; k < literals_.size(); ++k) {
      if (k > 0) {
        std::int64_t n = 0;
        if (!take_number(name, n) || !slices_[k - 1].index_of(n, n)) return false;
        found.numbers.push_back(n);
      }
      if (name.substr(0, literals_[k].size()) != literals_[k]) return false;
      name.remove_prefix(literals_[k].size());
    }
    found.rest = name;
    return has_rest_ || name.empty();
  }

  /// Makes the name with these parts. @returns false if a number is not in the slice
  [[nodiscard]] bool make(parts const& from, std::string& name) const {
    name = literals_.front();
    for (std::size_t k = 0; k < slices_.size(); ++k) {
      std::int64_t n = 0;
      if (!slices_[k].number_at(from.numbers[k], n)) return false;
      append_text(name, n, literals_[k + 1]);
    }
    name.append(from.rest);
    return true;
  }

 private:
  static constexpr std::int64_t most = 1'000'000'000'000;  // largest number in a name

  struct slice {
    std::int64_t begin = 0, end = most, step = 1;

    // The slice 3:10:2 has 3, 5, 7, 9; their indices are 0, 1, 2, 3.
    [[nodiscard]] bool index_of(std::int64_t number, std::int64_t& index) const {
      if (number < begin || number >= end || (number - begin) % step != 0) return false;
      index = (number - begin) / step;
      return true;
    }
    [[nodiscard]] bool number_at(std::int64_t index, std::int64_t& number) const {
      if (index >= (most - begin) / step) return false;
      number = begin + index * step;
      return number < end;
    }
  };

  [[noreturn, gnu::cold]] void fail(char const* rule) const {
    throw_error("stored_as: in the name ", text_, " of a rule ", rule, "; write layers.{}.w, or layers.{3:}.*");
  }

  // Takes a number without a sign and without leading zeros, at most `most`.
  static bool take_number(std::string_view& text, std::int64_t& n) {
    std::size_t digits = 0;
    n = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
      n = n >= most ? most : n * 10 + (text[digits] - '0');
    bool const is_one = digits > 0 && (digits == 1 || text[0] != '0');
    text.remove_prefix(digits);
    return is_one;
  }

  void add_slice(std::string_view text, bool may_slice) {
    slice s;
    if (!text.empty()) {
      if (!may_slice) fail("{} stands alone on the tree's side, whose lists are numbered from 0");
      std::int64_t* const bounds[] = {&s.begin, &s.end, &s.step};
      std::size_t colons = 0;
      while (!text.empty()) {
        if (text[0] == ':' && colons < 2) {
          ++colons;
          text.remove_prefix(1);
        } else if (!take_number(text, *bounds[colons]) || (!text.empty() && text[0] != ':')) {
          fail("a slice is begin:end or begin:end:step");
        }
      }
      if (colons == 0 || s.step == 0) fail("a slice is begin:end or begin:end:step");
    }
    slices_.push_back(s);
    literals_.emplace_back();
  }

  std::string text_;
  std::vector<std::string> literals_ = std::vector<std::string>(1);  // around the numbers
  std::vector<slice> slices_;
  bool has_rest_ = false;
};

/// The layout of a leaf in a tensor of a file. By default the leaf is all of the tensor.
struct in_tensor {
  bool is_transposed = false;  ///< the file has the leaf's dimensions in the opposite order
  int first = 0;               ///< the leaf is `count` of `of` equal chunks of its first dimension, from this one on
  int of = 1;
  int count = 1;
  int merged = 1;  ///< number of its first axes that are one dimension there

  /// Chunk number `which` of `number`, or `several` chunks from there on.
  [[nodiscard]] constexpr in_tensor chunk(int which, int number, int several = 1) const {
    in_tensor t = *this;
    t.first = which, t.of = number, t.count = several;
    return t;
  }
  /// The leaf's first `axes` axes are one dimension of the tensor: [H, D, M] of [H·D, M].
  [[nodiscard]] constexpr in_tensor merge(int axes) const {
    in_tensor t = *this;
    t.merged = axes;
    return t;
  }

  friend constexpr bool operator==(in_tensor const&, in_tensor const&) = default;
};

/// A leaf that is a tensor of a file, or a part of one.
struct leaf_in_file {
  std::string name{};  ///< empty: the tensor is left out
  in_tensor how{};
};

/// The names of leaves in a tree and in a file.
class name_rules {
 public:
  /// Adds a rule. The first rule that matches a name determines the name on the other side; a name that no rule matches
  /// is the same on both sides. A tensor has the leaves of all rules that give it the same name as the first matching
  /// rule.
  /// @throws ostraka::error if the two sides differ in their {} and *, or the chunks are not valid
  void add(std::string_view leaf, std::string_view file, in_tensor how = {}) {
    if (how.first < 0 || how.count < 1 || how.of < how.count || how.first > how.of - how.count || how.merged < 1)
      throw_error("stored_as: the leaf ", leaf, " is chunks ", how.first, " to ", how.first + how.count - 1, " of ",
                  how.of, " of ", file, ", with ", how.merged,
                  " merged axes; number the chunks from 0 to one less than their number, and merge at least one axis");
    rule r{name_pattern(leaf, false), name_pattern(file, true), leaf.empty(), how};
    if (!r.is_left_out && (r.leaf.numbers() != r.file.numbers() || r.leaf.has_rest() != r.file.has_rest()))
      throw_error("stored_as: both sides of a rule have the same number of {} and *, but ", leaf, " and ", file,
                  " do not; write {\"layers.{}.*\", \"model.layers.{}.*\"}");
    rules_.push_back(std::move(r));
  }

  /// Returns the leaf's name in the file.
  [[nodiscard]] std::string in_file(std::string_view leaf) const {
    std::string name;
    name_pattern::parts parts;
    for (rule const& r : rules_)
      if (!r.is_left_out && r.leaf.match(leaf, parts) && r.file.make(parts, name)) return name;
    return std::string(leaf);
  }

  /// Returns the tensor's leaves in the tree; one leaf without a name if a rule leaves the tensor out.
  [[nodiscard]] std::vector<leaf_in_file> in_tree(std::string_view tensor) const {
    std::vector<leaf_in_file> leaves;
    rule const* first = nullptr;
    name_pattern::parts parts;
    for (rule const& r : rules_) {
      if (first == nullptr ? !r.file.match(tensor, parts) : r.file.text() != first->file.text()) continue;
      if (first == nullptr) first = &r;
      leaf_in_file leaf{{}, r.how};
      if (!r.is_left_out) static_cast<void>(r.leaf.make(parts, leaf.name));
      leaves.push_back(std::move(leaf));
    }
    if (first == nullptr) leaves.push_back({std::string(tensor), {}});
    return leaves;
  }

  /// Returns the layout of the leaf in its tensor of the file.
  [[nodiscard]] in_tensor how(std::string_view leaf) const {
    std::string name;
    name_pattern::parts parts;
    for (rule const& r : rules_)
      if (!r.is_left_out && r.leaf.match(leaf, parts) && r.file.make(parts, name)) return r.how;
    return {};
  }

 private:
  struct rule {
    name_pattern leaf, file;
    bool is_left_out;  ///< the leaf's side is empty
    in_tensor how;
  };
  std::vector<rule> rules_;
};

}  // namespace ostraka::engine
