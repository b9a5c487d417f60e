// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The carrier of a build with one process. A group holds this process alone, which sends itself no message,
/// and whose collectives leave its data as they are.

#include <cstdint>

#include <ostraka/engine/carriers/reduced_by_mpi.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

struct one_process {
  struct processes {
    explicit processes(native_communicator) {}
    processes(processes const&, dynamic_array<int> const&) {}
    [[nodiscard]] int size() const { return 1; }
    [[nodiscard]] dynamic_array<int> numbers_in(processes const&) const { return {0}; }
  };

  struct requests {
    void wait() {}
    bool test() { return true; }
  };

  struct group {
    struct handle {};
    using requests = one_process::requests;

    group() = default;
    explicit group(handle) {}

    [[nodiscard]] int size() const { return 1; }
    [[nodiscard]] int rank() const { return 0; }
    [[nodiscard]] processes members() const { return processes(native()); }
    [[nodiscard]] native_communicator native() const { return this_rank_alone(); }

    static handle duplicate_of(native_communicator) { return {}; }
    [[nodiscard]] handle duplicate() const { return {}; }
    [[nodiscard]] handle split(int, int) const { return {}; }
    [[nodiscard]] handle split_by_machine() const { return {}; }
    [[nodiscard]] handle part(processes const&) const { return {}; }

    template <class T>
    void send(int, int, T const*, std::int64_t, requests&) const {}
    template <class T>
    void receive(int, int, T*, std::int64_t, requests&) const {}
    template <class T>
    void send(int, int, T const*, strided const&, requests&) const {}
    template <class T>
    void receive(int, int, T*, strided const&, requests&) const {}

    void barrier() const {}
    template <class T, class... With>
    void broadcast(T*, std::int64_t, int, With&...) const {}
    template <class T, class... With>
    void all_reduce(T*, std::int64_t, reduction, With&...) const {}
    template <class T>
    void all_gather(T const*, T*, std::int64_t) const {}
    template <class T>
    void all_gather(T*, counts_view const&) const {}
    template <class T>
    void gather(T const*, T*, counts_view const&, int) const {}
    template <class T>
    void scatter(T const*, T*, counts_view const&, int) const {}
    template <class T>
    void all_to_all(T const*, T*, std::int64_t) const {}
  };

  template <class T>
  static constexpr bool reduces(reduction how) {
    return reduced_by_mpi<T>(how);
  }
};

}  // namespace ostraka::engine
