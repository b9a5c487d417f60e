// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Pieces of blocks in files: their places, by plain loops; beyond 2^31; in rounds, of which devices have different
/// numbers. A writer that is killed leaves the old file whole.
// ranks: 1 2 3
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/files/transfer.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "files/scratch_file.hpp"

namespace e = ostraka::engine;
namespace t = ostraka::testing;
using ostraka::planner::box;

namespace {

std::vector<e::file_piece> pieces_of(box const& b, std::vector<std::int64_t> const& extents, int bytes,
                                     std::int64_t longest) {
  std::vector<e::file_piece> pieces;
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  e::cut_block(b, strides.data(), bytes, 1000, nullptr, longest, [&](e::file_piece const& p) { pieces.push_back(p); });
  return pieces;
}

// Every byte of a piece in the file, in the order of memory.
void bytes_in(e::strided const& s, int d, std::int64_t at, std::vector<std::int64_t>& all) {
  if (d == s.rank) return all.push_back(at);
  for (std::int64_t i = 0; i < s.extent[d]; ++i) bytes_in(s, d + 1, at + i * s.stride[d], all);
}

// A file that has become shorter: all devices say so, because each reads for itself. (MPI-IO does not always count what
// a collective call has read; the size of a file is checked again after all reads.)
void from_beyond_the_end(e::communicator const& all, std::string const& path) {
  e::long_run_bytes = 1;
  std::string read(20, ' ');
  std::vector<e::piece_in_memory> from;
  if (t::rank() == 0) from.push_back({{995, e::strided().add(20, 1), read.data()}, nullptr});
  CHECK_THROWS_WITH_AS(e::move_pieces(all, "test", path, e::file_use::reads, from),
                       doctest::Contains("ends before its last byte"), ostraka::error);
}

}  // namespace

TEST_CASE("the bytes of a block, whatever it is cut into") {
  std::vector<std::int64_t> const extents = {4, 5, 6};
  for (int bytes : {1, 8})
    for (box const& b : {box{3, {{0, 4}, {0, 5}, {0, 6}}}, box{3, {{1, 3}, {2, 4}, {5, 6}}},
                         box{3, {{0, 4}, {1, 4}, {0, 6}}}, box{3, {{2, 2}, {0, 5}, {0, 6}}}}) {
      std::vector<std::int64_t> wanted;
      for (std::int64_t i = b.at[0].begin; i < b.at[0].end; ++i)
        for (std::int64_t j = b.at[1].begin; j < b.at[1].end; ++j)
          for (std::int64_t k = b.at[2].begin; k < b.at[2].end; ++k)
            for (int n = 0; n < bytes; ++n) wanted.push_back(1000 + ((i * 5 + j) * 6 + k) * bytes + n);
      for (std::int64_t longest = 1; longest < 1000; longest += longest < 60 ? 1 : 97) {
        std::vector<std::int64_t> got;
        for (e::file_piece const& p : pieces_of(b, extents, bytes, longest)) {
          CHECK(p.bytes() <= std::max<std::int64_t>(longest, bytes));
          CHECK(reinterpret_cast<std::intptr_t>(p.memory) == static_cast<std::intptr_t>(got.size()));
          bytes_in(p.lies, 0, p.at, got);
        }
        CHECK(got == wanted);
      }
    }
  CHECK(pieces_of(box{0, {}}, {}, 4, 100).size() == 1);
  CHECK(pieces_of(box{0, {}}, {}, 4, 100)[0].bytes() == 4);
}

TEST_CASE("a block of 2^40 bytes in pieces that one call can carry") {
  std::int64_t const n = std::int64_t(1) << 20;
  std::int64_t next = 1000, total = 0;
  for (e::file_piece const& p : pieces_of(box{2, {{0, n}, {0, n}}}, {n, n}, 1, std::int64_t(1) << 28)) {
    CHECK(p.at == next);
    next += p.bytes();
    total += p.bytes();
  }
  CHECK(total == n * n);
  auto const half = pieces_of(box{2, {{0, n}, {n / 2, n}}}, {n, n}, 1, std::int64_t(1) << 28);
  CHECK(half.size() == 2048);
  CHECK(half.back().at == 1000 + (n - 512) * n + n / 2);
}

TEST_CASE("beyond 2^32, and rounds of which not all have as many") {
  t::scratch_file const file("sparse");
  std::int64_t const far = std::int64_t(5) << 30;
  std::int64_t const before = e::file_round_bytes;
  if (t::rank() == 0) {
    std::ofstream(file.path()).put('x');
    std::filesystem::resize_file(file.path(), static_cast<std::uintmax_t>(far) + 1000);
  }
  t::numbers_of_ranks(0);
  e::file_round_bytes = 16;
  e::communicator const all = e::communicator::world();
  // Rank r has r pieces of 10 bytes, every other byte of 20.
  std::vector<std::string> written, read;
  std::vector<e::piece_in_memory> pieces;
  for (int k = 0; k < t::rank(); ++k) {
    written.push_back(std::string(10, static_cast<char>('a' + 3 * t::rank() + k)));
    read.emplace_back(10, ' ');
  }
  auto const pieces_at = [&](std::vector<std::string>& memory) {
    pieces.clear();
    for (std::size_t k = 0; k < memory.size(); ++k)
      pieces.push_back({{far + 100 * t::rank() + 20 * static_cast<std::int64_t>(k), e::strided().add(10, 2).add(1, 1),
                         memory[k].data()},
                        nullptr});
    return pieces;
  };
  if (t::ranks() > 1) {  // alone, a piece is a run
    e::move_pieces(all, "test", file.path(), e::file_use::writes, pieces_at(written));
    e::move_pieces(all, "test", file.path(), e::file_use::reads, pieces_at(read));
    CHECK(read == written);
    t::numbers_of_ranks(0);
    std::ifstream in(file.path(), std::ios::binary);
    in.seekg(far);
    std::string const bytes{std::istreambuf_iterator<char>(in), {}};
    std::string wanted(1000, '\0');
    for (std::size_t r = 1; r < static_cast<std::size_t>(t::ranks()); ++r)
      for (std::size_t k = 0; k < r; ++k)
        for (std::size_t i = 0; i < 10; ++i) wanted[100 * r + 20 * k + 2 * i] = static_cast<char>('a' + 3 * r + k);
    CHECK(bytes == wanted);
  }
  e::file_round_bytes = before;
}

TEST_CASE("a writer that is killed leaves the old file whole") {
  if (t::ranks() > 1) return;  // (a job of several ranks would end with the one)
  t::scratch_file const file("model");
  file.write("the old file");
  for (int when = 0; when < 3; ++when) {
    pid_t const child = ::fork();
    if (child == 0) {
      e::replacing_file made("test", file.path(), 1000);
      if (when > 0) e::posix_file("test", made.name(), O_RDWR).write("the new", 7, 0);
      if (when > 1) made.replace();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(file.bytes().substr(0, 7) == (when < 2 ? "the old" : "the new"));
  }
  CHECK(file.bytes().size() == 1000);
  CHECK(file.files_beside() == 3);  // the killed writers left them, under other names
}

TEST_CASE("long runs, each by itself") {
  t::scratch_file const file("runs");
  file.write(std::string(1000, 'x'));
  std::int64_t const before = e::long_run_bytes;
  e::communicator const all = e::communicator::world();
  for (std::int64_t const longest : {1, 1 << 20}) {
    e::long_run_bytes = longest;
    std::vector<std::string> written, read;
    std::vector<e::piece_in_memory> to, from;
    for (int k = 0; k < t::rank() + 1; ++k) {
      written.push_back(std::string(20, static_cast<char>('a' + 3 * t::rank() + k + (longest > 1 ? 10 : 0))));
      read.emplace_back(20, ' ');
    }
    for (std::size_t k = 0; k < written.size(); ++k) {
      std::int64_t const at = 100 * t::rank() + 30 * static_cast<std::int64_t>(k);
      to.push_back({{at, e::strided().add(2, 10).add(10, 1), written[k].data()}, nullptr});
      from.push_back({{at, e::strided().add(2, 10).add(10, 1), read[k].data()}, nullptr});
    }
    e::move_pieces(all, "test", file.path(), e::file_use::writes, to);
    e::move_pieces(all, "test", file.path(), e::file_use::reads, from);
    CHECK(read == written);
    t::numbers_of_ranks(0);
    std::string const bytes = file.bytes();
    for (int r = 0; r < t::ranks(); ++r)
      for (int k = 0; k < r + 1; ++k)
        CHECK(bytes.substr(static_cast<std::size_t>(100 * r + 30 * k), 30) ==
              std::string(20, static_cast<char>('a' + 3 * r + k + (longest > 1 ? 10 : 0))) + std::string(10, 'x'));
    t::numbers_of_ranks(0);
  }
  from_beyond_the_end(all, file.path());
  e::long_run_bytes = before;
}
