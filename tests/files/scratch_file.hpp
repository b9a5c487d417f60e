// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A file for the length of a test, of this job alone, that all ranks see.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/byte_counter.hpp"
#include "support/mpi_main.hpp"

namespace ostraka::testing {

/// Rank 0 writes it for all. Collective.
inline void write_plain(std::string const& path, std::string const& bytes) {
  numbers_of_ranks(0);
  if (rank() == 0)
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  numbers_of_ranks(0);
}

class scratch_file {
 public:
  /// Makes a folder of its own. Collective.
  explicit scratch_file(std::string const& name) {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("ostraka-" + std::to_string(numbers_of_ranks(::getpid()).front()) + '-' + std::to_string(++number));
    if (rank() == 0) std::filesystem::create_directory(folder_);
    wait_for_all();
    path_ = (folder_ / name).string();
  }
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;
  ~scratch_file() {
    wait_for_all();
    if (rank() == 0) std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] std::filesystem::path const& folder() const { return folder_; }

  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Writes the file for all ranks. Collective.
  void write(std::string const& bytes) const { write_plain(path_, bytes); }

  /// Writes another file in its folder.
  void write_beside(std::string const& name, std::string const& bytes) const {
    write_plain((folder_ / name).string(), bytes);
  }

  /// The number of files in its folder, with this one.
  [[nodiscard]] int files_beside() const {
    int n = 0;
    for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator(folder_)) ++n;
    return n;
  }

 private:
  static void wait_for_all() { numbers_of_ranks(0); }

  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace ostraka::testing
