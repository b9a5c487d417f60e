// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reads or writes pieces of one file from all devices. MPI-IO moves them in rounds of a bounded number of
/// bytes: all pieces of a round in one collective call, or each by itself if all pieces are long runs. A single device
/// does not use MPI-IO.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_piece.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The most bytes that a device reads or writes in one call; tests lower it to get many rounds.
[[gnu::visibility("default")]] inline std::int64_t file_round_bytes = std::int64_t(1) << 28;

/// If runs in a file are at least this long on average, each device reads and writes its own runs: sending them to a
/// few devices that do the I/O would take longer. Tests lower it.
[[gnu::visibility("default")]] inline std::int64_t long_run_bytes = std::int64_t(1) << 20;

/// Bytes that this device has read from files, headers included, and written to them.
struct file_traffic {
  std::int64_t read = 0;
  std::int64_t written = 0;
};
[[gnu::visibility("default")]] inline file_traffic traffic_of_files;

/// A piece in memory, and the functions that copy its bytes to host memory and back; null if the host can access it.
struct piece_in_memory : file_piece {
  void (*carry)(char* to, char const* from, std::int64_t bytes) = nullptr;
};

enum class file_use { reads, writes };

namespace detail {

// Copies a piece's bytes to or from the buffer of its round.
inline void carry(piece_in_memory const& p, char* to, char const* from) {
  p.carry != nullptr ? p.carry(to, from, p.bytes())
                     : static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(p.bytes())));
}

// The pieces that one call moves, as one contiguous buffer in host memory.
class file_round {
 public:
  file_round(piece_in_memory const* pieces, std::size_t count) : pieces_(pieces), count_(count) {
    for (std::size_t i = 0; i < count; ++i) bytes_ += pieces[i].bytes();
    if (count == 1 && pieces->carry == nullptr)
      data_ = pieces->memory;
    else if (count > 0)
      packed_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes_)), data_ = packed_.get();
  }

  [[nodiscard]] piece_in_memory const* begin() const { return pieces_; }
  [[nodiscard]] piece_in_memory const* end() const { return pieces_ + count_; }
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  void pack() const {
    char* next = packed_.get();
    for (std::size_t i = 0; packed_ && i < count_; next += pieces_[i++].bytes())
      carry(pieces_[i], next, pieces_[i].memory);
  }
  void unpack() const {
    char const* next = packed_.get();
    for (std::size_t i = 0; packed_ && i < count_; next += pieces_[i++].bytes())
      carry(pieces_[i], pieces_[i].memory, next);
  }

 private:
  piece_in_memory const* pieces_;
  std::size_t count_;
  std::int64_t bytes_ = 0;
  std::unique_ptr<char[]> packed_;
  char* data_ = nullptr;
};

// Splits these pieces into rounds, and returns the number of pieces in each.
inline std::vector<std::size_t> rounds_of(std::vector<piece_in_memory> const& pieces) {
  std::vector<std::size_t> counts;
  std::int64_t bytes = 0;
  for (piece_in_memory const& p : pieces) {
    if (counts.empty() || bytes + p.bytes() > file_round_bytes) {
      counts.push_back(0);
      bytes = 0;
    }
    ++counts.back();
    bytes += p.bytes();
  }
  return counts;
}

inline loop_nest<1> loops_of_piece(file_piece const& p) {
  loop_nest<1> loops = loops_along(p.lies);
  loops.merge();
  return loops;
}

// For a single device: its pieces are whole tensors, contiguous in the file, or columns of one tensor.
inline void move_alone(posix_file const& file, file_use use, file_round const& round) {
  char* next = round.data();
  for (piece_in_memory const& p : round) {
    loop_nest<1> loops = loops_of_piece(p);
    int const last = loops.rank - 1;
    std::int64_t run = 1;
    if (last >= 0 && loops.stride[0][last] == 1) {
      run = loops.extent[last];
      loops.remove(last);
    }
    loop_walker<1> walk(loops, 0);
    for (std::int64_t i = loops.size(); i > 0; --i, next += run, walk.next()) {
      std::int64_t const at = p.at + walk.offset[0];
      use == file_use::reads ? file.read(next, run, at) : file.write(next, run, at);
    }
  }
}

#if OSTRAKA_ENABLE_MPI

inline std::string words_of_mpi(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

// A file that all members have open.
class shared_file {
 public:
  // Each device checks that it can see the file before it calls MPI, where a failure would leave the other devices
  // waiting.
  shared_file(communicator const& all, std::string const& operation, std::string const& path, file_use use)
      : all_(all), operation_(operation), path_(path) {
    run_or_fail_together(all,
                         [&] { posix_file const seen(operation, path, use == file_use::reads ? O_RDONLY : O_RDWR); });
    all.enter();
    int const code = MPI_File_open(all.native(), path.c_str(), use == file_use::reads ? MPI_MODE_RDONLY : MPI_MODE_RDWR,
                                   MPI_INFO_NULL, &file_);
    if (code == MPI_SUCCESS) MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN);
    try {
      require(code, "cannot be opened");
    } catch (...) {
      file_ = MPI_FILE_NULL;  // closing is collective, and some members may not have opened it
      throw;
    }
  }
  shared_file(shared_file const&) = delete;
  shared_file& operator=(shared_file const&) = delete;
  ~shared_file() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  // Moves a round. Collective; @throws ostraka::error on all members alike. With `runs` each member moves its
  // contiguous pieces by itself.
  void move(file_use use, file_round const& round, bool runs) {
    all_.enter();
    outcome const done = runs ? move_runs(use, round) : move_together(use, round);
    require(done.code, use == file_use::reads ? "cannot be read" : "cannot be written", done.ended);
  }

  // Waits until the written bytes are on the disk.
  void flush() {
    all_.enter();
    require(MPI_File_sync(file_), "cannot be written");
  }

 private:
  struct outcome {
    int code = MPI_SUCCESS;
    bool ended = false;  // reached before the last byte
  };

  static outcome outcome_of_call(int code, MPI_Status const& status, int wanted) {
    int moved = wanted;
    if (code == MPI_SUCCESS && wanted > 0) MPI_Get_count(&status, MPI_BYTE, &moved);
    return {code, moved < wanted};
  }

  outcome move_together(file_use use, file_round const& round) {
    MPI_Datatype places = type_of(round);
    MPI_File_set_view(file_, 0, MPI_BYTE, places, "native", MPI_INFO_NULL);
    auto const count = static_cast<int>(round.bytes());
    MPI_Status status;
    int const code = use == file_use::reads ? MPI_File_read_at_all(file_, 0, round.data(), count, MPI_BYTE, &status)
                                            : MPI_File_write_at_all(file_, 0, round.data(), count, MPI_BYTE, &status);
    if (places != MPI_BYTE) MPI_Type_free(&places);
    return outcome_of_call(code, status, count);
  }

  outcome move_runs(file_use use, file_round const& round) {
    char* next = round.data();
    for (piece_in_memory const& p : round) {
      auto const count = static_cast<int>(p.bytes());
      MPI_Status status;
      int const code = use == file_use::reads
                           ? MPI_File_read_at(file_, static_cast<MPI_Offset>(p.at), next, count, MPI_BYTE, &status)
                           : MPI_File_write_at(file_, static_cast<MPI_Offset>(p.at), next, count, MPI_BYTE, &status);
      if (outcome const done = outcome_of_call(code, status, count); done.code != MPI_SUCCESS || done.ended)
        return done;
      next += count;
    }
    return {};
  }

  void require(int code, char const* what, bool ended = false) {
    std::string text;
    if (code != MPI_SUCCESS || ended)
      text = join_text(
          operation_, ": ", path_, ' ', what, " (", ended ? "it ends before its last byte" : words_of_mpi(code),
          "); check that the file is visible to all devices, that they may access it, and that its disk has space");
    throw_alike(all_, text);
  }

  // The datatype of a round's pieces in the file, which are in ascending order.
  static MPI_Datatype type_of(file_round const& round) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> places;
    std::vector<int> const ones(static_cast<std::size_t>(round.end() - round.begin()), 1);
    if (ones.empty()) return MPI_BYTE;
    for (piece_in_memory const& p : round) {
      types.push_back(type_of(p));
      places.push_back(static_cast<MPI_Aint>(p.at));
    }
    MPI_Datatype all;
    MPI_Type_create_struct(static_cast<int>(ones.size()), ones.data(), places.data(), types.data(), &all);
    MPI_Type_commit(&all);
    for (MPI_Datatype& t : types) MPI_Type_free(&t);
    return all;
  }

  static MPI_Datatype type_of(file_piece const& p) {
    loop_nest<1> const loops = loops_of_piece(p);
    int d = loops.rank - 1;
    MPI_Datatype type;
    bool const run = d >= 0 && loops.stride[0][d] == 1;
    MPI_Type_contiguous(run ? static_cast<int>(loops.extent[d--]) : 1, MPI_BYTE, &type);
    for (; d >= 0; --d) {
      MPI_Datatype inner = type;
      MPI_Type_create_hvector(static_cast<int>(loops.extent[d]), 1, static_cast<MPI_Aint>(loops.stride[0][d]), inner,
                              &type);
      MPI_Type_free(&inner);
    }
    return type;
  }

  communicator const& all_;
  std::string const& operation_;
  std::string const& path_;
  MPI_File file_ = MPI_FILE_NULL;
};

#endif

// True if the pieces of all members are long runs. Collective.
inline bool in_long_runs(communicator const& all, std::vector<piece_in_memory> const& pieces) {
  std::int64_t bytes = 0, others = 0;
  for (piece_in_memory const& p : pieces) {
    loop_nest<1> const loops = loops_of_piece(p);
    if (loops.rank > 1 || (loops.rank == 1 && loops.stride[0][0] != 1)) others = 1;
    bytes += p.bytes();
  }
  if (bytes < static_cast<std::int64_t>(pieces.size()) * long_run_bytes) others = 1;
  all.find_largest(&others, 1);
  return others == 0;
}

// Calls f(round) for each of this device's rounds, then for empty rounds until every device has finished.
template <class F>
void for_each_round(communicator const& all, std::vector<piece_in_memory> const& pieces, F const& f) {
  std::vector<std::size_t> const counts = rounds_of(pieces);
  auto most = static_cast<std::int64_t>(counts.size());
  all.find_largest(&most, 1);
  piece_in_memory const* next = pieces.data();
  for (std::size_t r = 0; r < static_cast<std::size_t>(most); ++r) {
    std::size_t const count = r < counts.size() ? counts[r] : 0;
    f(next, count);
    next += count;
  }
}

}  // namespace detail

/// Reads or writes the pieces of all members of a group. Each member passes its own pieces, in the order of the file;
/// pieces that are written do not overlap those of another member. Collective. @throws ostraka::error, on all members
/// alike
inline void move_pieces(communicator const& all, std::string const& operation, std::string const& path, file_use use,
                        std::vector<piece_in_memory> const& pieces) {
  auto const move = [&](auto& file, auto const& one) {
    detail::for_each_round(all, pieces, [&](piece_in_memory const* first, std::size_t count) {
      std::unique_ptr<detail::file_round> round;
      run_or_fail_together(all, [&] {
        round = std::make_unique<detail::file_round>(first, count);
        if (use == file_use::writes) round->pack();
      });
      one(file, *round);
      (use == file_use::reads ? traffic_of_files.read : traffic_of_files.written) += round->bytes();
      if (use == file_use::reads) round->unpack();
    });
  };
#if OSTRAKA_ENABLE_MPI
  if (all.size() > 1) {
    detail::shared_file file(all, operation, path, use);
    bool const runs = detail::in_long_runs(all, pieces);
    move(file, [&](detail::shared_file& f, detail::file_round const& round) { f.move(use, round, runs); });
    if (use == file_use::writes) file.flush();
    return;
  }
#endif
  posix_file const file(operation, path, use == file_use::reads ? O_RDONLY : O_RDWR);
  move(file, [&](posix_file const& f, detail::file_round const& round) { detail::move_alone(f, use, round); });
  if (use == file_use::writes) file.flush();
}

}  // namespace ostraka::engine
