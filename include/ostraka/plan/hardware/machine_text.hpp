// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A machine as a text that people read and write, one number per line; # begins a comment. Missing numbers
/// are 0.
///
///     name = two ranks of a Zen 5
///     flops.float64 = 5.1e10               multiplications and additions per second; float32, float16, int8
///     flops.shares = 20 0.3 80 0.7         flops per element of operands and result, and the share of flops.* that
///                                          products with this intensity reach
///     memory.bytes_per_second = 1.2e10
///     memory.bytes = 2.4e10
///     cache.bytes_per_second = 4e10        for work that touches at most cache.bytes
///     cache.bytes = 4e6
///     memory.sizes = 8e6 3e10 3e7 1.2e10   bytes that are touched, bytes per second, by size (rates_by_size.hpp)
///     memory.waits = 0.5                   the part of the shorter of computing and reading that is not hidden
///     reduction.bytes_per_second = 2e10    in all-reduces, without their messages
///     reduction.sizes = 1e6 2e10 3e7 2e9
///     operation.seconds = 2.5e-6
///     links = switched 8e9 1.1e-6          shape (ring, line, switched), bytes per second one way, seconds per hop
///     nodes = switched 2e9 2e-5            between nodes, if a mesh has nodes
///     links.X = ring 9e10 1e-6 shared      along the mesh axis X; both directions share each link
///     links.T = ring 4.5e10 1e-6 wraps 16  an axis of fewer devices does not wrap, and is a line
///     links.Y = switched 8e9 1.1e-6 handshake 2.4e-6 4096     extra seconds of messages of more than 4096 bytes
///     links.Z = switched 8e9 1.1e-6 sizes 1e6 8e9 4e6 3e9     bytes of a message, bytes per second, by size
///     links.V = switched 8e9 1.1e-6 rows 8e3 4e9 3e5 6e9      the same for rows that the transport reads in place
///     links.W = switched 8e9 1.1e-6 blocking                  nothing moves while a device computes

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

namespace detail {

[[nodiscard, gnu::cold]] inline std::string exact(double number) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  text << number;
  return text.str();
}

// The name with # and line ends replaced by blanks.
[[nodiscard, gnu::cold]] inline std::string on_one_line(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == '#' || c == '\n' || c == '\r') c = ' ';
  return text;
}

[[nodiscard, gnu::cold]] inline std::string as_text(rates_by_size const& r) {
  std::string text;
  for (int i = 0; i < r.count; ++i) append_text(text, i == 0 ? "" : " ", exact(r.at[i].size), ' ', exact(r.at[i].rate));
  return text;
}

[[nodiscard, gnu::cold]] inline std::string as_text(link const& l) {
  return join_text(
      name_of(l.shape), ' ', exact(l.bytes_per_second), ' ', exact(l.hop_seconds), l.both_ways ? "" : " shared",
      l.wraps_from == 0 ? std::string() : join_text(" wraps ", l.wraps_from),
      l.handshake_seconds == 0 ? std::string()
                               : join_text(" handshake ", exact(l.handshake_seconds), ' ', exact(l.handshake_bytes)),
      l.of_size.count == 0 ? std::string() : join_text(" sizes ", as_text(l.of_size)),
      l.of_rows.count == 0 ? std::string() : join_text(" rows ", as_text(l.of_rows)), l.overlaps ? "" : " blocking");
}

// The words of a value, up to the number that is read.
struct split_words {
  static constexpr int most = 14 + 4 * rates_by_size::most;  // more than links can have
  std::string word[most + 1];                                // the last one is empty
  int count = 0;

  explicit split_words(std::string_view value) {
    std::istringstream text{std::string(value)};
    while (count < most && text >> word[count]) ++count;
  }
};

// Reads a text line by line. Every error names the line.
class machine_reader {
 public:
  explicit machine_reader(std::string_view where) : where_(where) {}

  [[gnu::cold]] machine read(std::string_view text) {
    while (!text.empty()) {
      std::size_t const end = text.find('\n');
      ++line_;
      read_line(trimmed(text.substr(0, end).substr(0, text.substr(0, end).find('#'))));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return m_;
  }

 private:
  static std::string_view trimmed(std::string_view s) {
    constexpr std::string_view blank = " \t\r";
    std::size_t const first = s.find_first_not_of(blank);
    return first == std::string_view::npos ? std::string_view()
                                           : s.substr(first, s.find_last_not_of(blank) + 1 - first);
  }

  [[noreturn]] void fail(std::string const& rule) const { throw_error(where_, ", line ", line_, ": ", rule); }

  void read_line(std::string_view line) {
    if (line.empty()) return;
    std::size_t const equals = line.find('=');
    if (equals == std::string_view::npos)
      fail(join_text("a line is `what = value`, but this is \"", line, "\"; write, for example, flops.float64 = 5e10"));
    std::string_view const what = trimmed(line.substr(0, equals));
    std::string_view const value = trimmed(line.substr(equals + 1));
    if (what == "name")
      m_.name = value;
    else if (what == "links")
      m_.links = link_of(value);
    else if (what == "nodes")
      m_.between_nodes = link_of(value);
    else if (what.substr(0, 6) == "links." && what.size() > 6)
      add(what.substr(6), link_of(value));
    else if (what == "flops.shares")
      m_.shares = rates_of(value, shares_in_words);
    else if (what == "memory.waits")
      m_.memory_waits = part_of(value);
    else if (what == "reduction.sizes")
      m_.reductions_of_size = rates_of(value);
    else if (what == "memory.sizes")
      m_.memory_of_size = rates_of(value);
    else if (double* const number = number_called(what); number != nullptr)
      *number = number_of(value, what);
    else
      fail(join_text(
          "no machine has \"", what,
          "\"; it has name, flops.float64, flops.float32, flops.float16, flops.int8, flops.shares, "
          "memory.bytes_per_second, memory.bytes, memory.sizes, memory.waits, cache.bytes_per_second, cache.bytes, "
          "reduction.bytes_per_second, reduction.sizes, operation.seconds, links, nodes, and links.X of a mesh axis "
          "X"));
  }

  double* number_called(std::string_view what) {
    if (what == "flops.float64") return &m_.flops_per_second.float64;
    if (what == "flops.float32") return &m_.flops_per_second.float32;
    if (what == "flops.float16") return &m_.flops_per_second.float16;
    if (what == "flops.int8") return &m_.flops_per_second.int8;
    if (what == "memory.bytes_per_second") return &m_.memory_bytes_per_second;
    if (what == "memory.bytes") return &m_.memory_bytes;
    if (what == "cache.bytes_per_second") return &m_.cache_bytes_per_second;
    if (what == "cache.bytes") return &m_.cache_bytes;
    if (what == "reduction.bytes_per_second") return &m_.reduction_bytes_per_second;
    if (what == "operation.seconds") return &m_.operation_seconds;
    return nullptr;
  }

  double number_of(std::string_view value, std::string_view what) const {
    std::istringstream text{std::string(value)};
    text.imbue(std::locale::classic());
    double number = -1;
    text >> number;
    if (text.fail() || text.peek() != std::istringstream::traits_type::eof() || !(number >= 0) || number > 1e300)
      fail(join_text(what, " is a number, 0 or more, but \"", value, "\" is none; write, for example, 5e10"));
    return number;
  }

  void add(std::string_view mesh_axis, link const& l) {
    if (m_.named == machine::max_named)
      fail(join_text("links are given for ", machine::max_named, " mesh axes at most; leave some to `links`"));
    m_ = m_.with(mesh_axis, l);
  }

  // The names in an error about pairs.
  struct pair_words {
    char const* size;
    char const* rate;
    char const* pairs;
    char const* example;
  };
  static constexpr pair_words sizes_in_words{"a size in bytes", "bytes a second at a size",
                                             "sizes are pairs, bytes and bytes a second, the shorter first",
                                             "1e6 8e9 4e6 3e9"};
  static constexpr pair_words shares_in_words{
      "an intensity", "a share",
      "flops.shares are pairs, flops an element and the share of the rate that such products reach, the smaller first",
      "20 0.3 80 0.7"};

  template <class Words>
  rates_by_size rates_of(Words const& word, int words, pair_words const& called = sizes_in_words) const {
    rates_by_size all;
    bool good = words > 0 && words % 2 == 0 && words <= 2 * rates_by_size::most;
    for (int i = 0; good && i < words; i += 2) {
      rate_at const r{number_of(word(i), called.size), number_of(word(i + 1), called.rate)};
      good = r.rate > 0 && r.size > (i > 0 ? all.last().size : 0);
      all.add(r);
    }
    if (!good)
      fail(join_text(called.pairs, ", ", rates_by_size::most, " at most; write, for example, ", called.example));
    return all;
  }

  rates_by_size rates_of(std::string_view value, pair_words const& called = sizes_in_words) const {
    split_words const all(value);
    return rates_of([&](int i) { return std::string_view(all.word[i]); }, all.count, called);
  }

  std::int64_t devices_of(std::string_view value) const {
    double const number = number_of(value, "wraps");
    std::int64_t const devices = number <= 1e15 ? static_cast<std::int64_t>(number) : 0;
    if (static_cast<double>(devices) != number)
      fail(join_text("wraps is a whole number of devices, but this is ", value, "; write, for example, 16"));
    return devices;
  }

  double part_of(std::string_view value) const {
    double const part = number_of(value, "memory.waits");
    if (part > 1)
      fail(join_text("memory.waits is a part, from 0 to 1, but this is ", value, "; write, for example, 0.5"));
    return part;
  }

  link link_of(std::string_view value) const {
    split_words const all(value);
    std::string const* const word = all.word;
    link l;
    l.shape = word[0] == "ring" ? link_shape::ring : word[0] == "line" ? link_shape::line : link_shape::switched;
    int next = 3;
    if (word[next] == "shared") l.both_ways = false, ++next;
    bool const wraps = word[next] == "wraps";
    int const wraps_at = next + 1;
    if (wraps) next += 2;
    bool const shakes = word[next] == "handshake";
    int const behind = shakes ? next + 3 : next;
    bool const has_sizes = word[behind] == "sizes";
    int rows = behind;
    while (has_sizes && rows < all.count && word[rows] != "rows" && word[rows] != "blocking") ++rows;
    bool const has_rows = word[rows] == "rows";
    int last = rows;
    while (has_rows && last < all.count && word[last] != "blocking") ++last;
    l.overlaps = word[last] != "blocking";
    if (word[0] != name_of(l.shape) || (wraps && l.shape != link_shape::ring) ||
        all.count != (l.overlaps ? last : last + 1))
      fail(join_text(
          "links are `ring`, `line` or `switched`, then bytes a second, then seconds a hop, then `shared` if both "
          "directions share them, then, of a ring, `wraps` and from how many devices on an axis does so, if not every "
          "one does, then `handshake`, seconds and bytes if longer messages take that besides, then "
          "`sizes` and for some of them bytes and bytes a second if the rate depends on them, then `rows` and the same "
          "of messages of rows, then `blocking` if nothing moves while a device computes, but this is \"",
          value, "\"; write, for example, switched 8e9 1.1e-6"));
    l.bytes_per_second = number_of(word[1], "bytes a second");
    l.hop_seconds = number_of(word[2], "seconds a hop");
    if (wraps) l.wraps_from = devices_of(word[wraps_at]);
    if (shakes) l.handshake_seconds = number_of(word[next + 1], "seconds of a handshake");
    if (shakes) l.handshake_bytes = number_of(word[next + 2], "bytes without a handshake");
    if (has_sizes)
      l.of_size = rates_of([&](int i) { return std::string_view(word[behind + 1 + i]); }, rows - behind - 1);
    if (has_rows) l.of_rows = rates_of([&](int i) { return std::string_view(word[rows + 1 + i]); }, last - rows - 1);
    if (l.bytes_per_second == 0) fail("links carry bytes, but these 0 a second; write what they do");
    return l;
  }

  std::string_view where_;
  int line_ = 0;
  machine m_{};
};

}  // namespace detail

/// Returns the machine that a text describes.
/// @throws ostraka::error that begins with `where` and names the line
[[nodiscard, gnu::cold]] inline machine machine_from_text(std::string_view text, std::string_view where = "machine") {
  return detail::machine_reader(where).read(text);
}

/// Returns the text of a machine. Reading that text returns the same machine, to the last bit, except for # and ends of
/// lines in its name.
[[nodiscard, gnu::cold]] inline std::string machine_as_text(machine const& m) {
  std::string text = join_text("name = ", detail::on_one_line(m.name.view()), '\n');
  auto const add = [&](char const* what, double number) {
    if (number != 0) append_text(text, what, " = ", detail::exact(number), '\n');
  };
  add("flops.float64", m.flops_per_second.float64);
  add("flops.float32", m.flops_per_second.float32);
  add("flops.float16", m.flops_per_second.float16);
  add("flops.int8", m.flops_per_second.int8);
  if (m.shares.count > 0) append_text(text, "flops.shares = ", detail::as_text(m.shares), '\n');
  add("memory.bytes_per_second", m.memory_bytes_per_second);
  add("memory.bytes", m.memory_bytes);
  add("cache.bytes_per_second", m.cache_bytes_per_second);
  add("cache.bytes", m.cache_bytes);
  if (m.memory_of_size.count > 0) append_text(text, "memory.sizes = ", detail::as_text(m.memory_of_size), '\n');
  add("memory.waits", m.memory_waits);
  add("reduction.bytes_per_second", m.reduction_bytes_per_second);
  if (m.reductions_of_size.count > 0)
    append_text(text, "reduction.sizes = ", detail::as_text(m.reductions_of_size), '\n');
  add("operation.seconds", m.operation_seconds);
  if (m.links.bytes_per_second > 0) append_text(text, "links = ", detail::as_text(m.links), '\n');
  if (m.between_nodes.bytes_per_second > 0) append_text(text, "nodes = ", detail::as_text(m.between_nodes), '\n');
  for (int i = 0; i < m.named; ++i)
    append_text(text, "links.", m.of_axis[i].mesh_axis.view(), " = ", detail::as_text(m.of_axis[i].links), '\n');
  return text;
}

}  // namespace ostraka::planner
