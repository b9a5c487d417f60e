// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A group of devices that talk to each other: an MPI communicator of our own, or, without MPI, the one device there is.
/// Only this file and the collectives name MPI.

#ifndef OSTRAKA_ENABLE_MPI
#define OSTRAKA_ENABLE_MPI 1
#endif

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#if OSTRAKA_ENABLE_MPI
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#endif

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI
using native_communicator = MPI_Comm;
#else
struct native_communicator {};
#endif

/// A group of devices, numbered from 0. Copies share one MPI communicator, which is freed with the last of them unless MPI has ended before.
class communicator {
 public:
  /// The group of this device alone; needs no communication and no MPI.
  communicator() = default;

  /// A duplicate of the caller's communicator, so that our messages never meet theirs. Collective.
  explicit communicator(native_communicator theirs);

  /// All devices of the job. Collective.
  static communicator world();

  /// The devices that give the same colour, in the order of their keys. Collective over this group.
  communicator split(int colour, int key) const;

  int size() const { return shared_ ? shared_->size : 1; }
  int rank() const { return shared_ ? shared_->rank : 0; }
  native_communicator native() const;

  /// Prints the message with this device's number and ends the job on all devices: an exception on one of them would leave the others waiting.
  [[noreturn]] void abort(std::string const& message) const;

 private:
  struct owned {
    native_communicator native;
    int size = 1;
    int rank = 0;
    explicit owned(native_communicator adopted);
    owned(owned const&) = delete;
    owned& operator=(owned const&) = delete;
    ~owned();
  };
  explicit communicator(std::shared_ptr<owned const> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<owned const> shared_;  // empty: this device alone
};

#if OSTRAKA_ENABLE_MPI

inline communicator::owned::owned(native_communicator adopted) : native(adopted) {
  // An error that is returned on one device only would hang the others, whatever handler the user's communicator has.
  MPI_Comm_set_errhandler(native, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_size(native, &size);
  MPI_Comm_rank(native, &rank);
}

inline communicator::owned::~owned() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  MPI_Comm ours = native;
  if (!finalized) MPI_Comm_free(&ours);
}

inline communicator::communicator(native_communicator theirs) {
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(theirs, &duplicate);
  shared_ = std::make_shared<owned const>(duplicate);
}

inline communicator communicator::world() { return communicator(MPI_COMM_WORLD); }

inline communicator communicator::split(int colour, int key) const {
  if (!shared_) return {};
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(shared_->native, colour, key, &part);
  return communicator(std::make_shared<owned const>(part));
}

inline native_communicator communicator::native() const { return shared_ ? shared_->native : MPI_COMM_SELF; }

inline void communicator::abort(std::string const& message) const {
  std::fprintf(stderr, "ostraka: device %d of %d: %s\n", rank(), size(), message.c_str());
  std::fflush(stderr);
  MPI_Abort(native(), EXIT_FAILURE);
  std::abort();
}

#else

inline communicator::owned::owned(native_communicator adopted) : native(adopted) {}
inline communicator::owned::~owned() = default;
inline communicator::communicator(native_communicator) {}
inline communicator communicator::world() { return {}; }
inline communicator communicator::split(int, int) const { return {}; }
inline native_communicator communicator::native() const { return {}; }

inline void communicator::abort(std::string const& message) const {
  std::fprintf(stderr, "ostraka: %s\n", message.c_str());
  std::fflush(stderr);
  std::abort();
}

#endif

}  // namespace ostraka::engine
