// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The collectives that get copies on the host; these copies bring the old elements and take back the new ones.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <ostraka/engine/moves/on_host.hpp>

namespace e = ostraka::engine;

namespace {

using exec_space = Kokkos::DefaultHostExecutionSpace;

struct pretending {
  explicit pretending(e::emulated_gpu what) : before_(e::emulated) { e::emulated = what; }
  ~pretending() { e::emulated = before_; }
  pretending(pretending const&) = delete;
  pretending& operator=(pretending const&) = delete;

 private:
  e::emulated_gpu before_;
};

}  // namespace

TEST_CASE("who gets copies") {
  struct expectation {
    e::emulated_gpu what;
    bool gpu, carried, computed;
  };
  for (expectation const& x : {expectation{e::emulated_gpu::none, false, false, false},
                               {e::emulated_gpu::direct, true, false, true},
                               {e::emulated_gpu::staged, true, true, true}}) {
    pretending const now(x.what);
    CHECK(e::is_gpu_memory<exec_space>() == x.gpu);
    CHECK(e::is_staged<exec_space>(e::host_work::carries) == x.carried);
    CHECK(e::is_staged<exec_space>(e::host_work::computes) == x.computed);
  }
}

TEST_CASE("what was there is brought, what has become of it is taken back") {
  for (e::emulated_gpu const what : {e::emulated_gpu::none, e::emulated_gpu::direct, e::emulated_gpu::staged}) {
    pretending const now(what);
    bool const copied = what != e::emulated_gpu::none;
    std::vector<double> const out{1, 2, 3};
    std::vector<double> in{10, 20};
    e::arrays_for_mpi<exec_space, double> arrays;
    arrays.begin(e::is_staged<exec_space>(e::host_work::computes));
    double const* const sent = arrays.sent(out.data(), 3);
    double* const received = arrays.received(in.data(), 2, true);
    double pieces = 0;
    CHECK((sent != out.data()) == copied);
    CHECK((received != in.data()) == copied);
    CHECK((arrays.reserve_buffer(&pieces, 1) != &pieces) == copied);
    received[0] += sent[0];
    received[1] += sent[2];
    if (copied) CHECK(in == std::vector<double>{10, 20});
    arrays.copy_back();
    CHECK(in == std::vector<double>{11, 23});

    e::with_array_for_mpi(exec_space(), e::host_work::carries, in.data(), 2, [&](double* both) {
      CHECK((both != in.data()) == (what == e::emulated_gpu::staged));
      both[0] *= 2;
    });
    CHECK(in == std::vector<double>{22, 23});

    bool called = false;
    e::with_array_for_mpi(exec_space(), e::host_work::carries, static_cast<double*>(nullptr), 0,
                          [&](double*) { called = true; });
    CHECK(called);
  }
}
