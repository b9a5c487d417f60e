// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The sham device's rules, each broken on purpose: it is reported, with the name of the memory or the kernel, once.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "support/sham/device.hpp"

namespace {

using view = Kokkos::View<int*>;
using host_view = Kokkos::View<int*, Kokkos::HostSpace>;

struct write_index {
  view to;
  void operator()(int i) const { to(i) = i; }
};

struct write_from {
  int* to;
  int const* from;
  void operator()(int i) const { to[i] = *from; }
};

struct count_up {
  int* at;
  int* order;
  void operator()(int i) const { order[i] = (*at)++; }
};

bool says(std::string const& report, std::string const& words) { return report.find(words) != std::string::npos; }

std::vector<int> on_host(view const& v) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  return {copy.data(), copy.data() + copy.size()};
}

int volatile inspected_array;

template <class F>
void launch(int n, F const& f) {
  Kokkos::parallel_for("a kernel", Kokkos::RangePolicy<Kokkos::Sham>(0, n), f);
}

}  // namespace

TEST_CASE("kernels and copies reach device memory, and nothing is reported") {
  view const v("v", 1000);
  launch(1000, write_index{v});
  std::vector<int> const seen = on_host(v);
  for (int i = 0; i < 1000; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  CHECK(sham::take_reports().empty());
}

TEST_CASE("the host reads device memory, by a pointer and by a view") {
  view const v("the view", 4);
  Kokkos::fence();
  inspected_array = v.data()[1];
  std::vector<std::string> reports = sham::take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(says(reports[0], "the host touches device memory, 'the view', byte 4"));
  Kokkos::fence();  // closes it again
  inspected_array = v(2);
  reports = sham::take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(says(reports[0], "'the view', byte 8"));
}

TEST_CASE("the host writes device memory, also by a function of the C library") {
  view const v("v", 4);
  Kokkos::fence();
  v.data()[0] = 1;
  CHECK(sham::take_reports().size() == 1);
  Kokkos::fence();
  std::memset(v.data(), 0, 16);
  CHECK(sham::take_reports().size() == 1);
}

TEST_CASE("memory that was open for a kernel is closed after it") {
  view const v("v", 4), w("w", 4);
  launch(4, write_index{v});
  launch(4, write_index{w});
  Kokkos::fence();
  inspected_array = v.data()[0];
  inspected_array = w.data()[0];
  CHECK(sham::take_reports().size() == 2);
}

TEST_CASE("fresh memory is no zeros, and a missing fence is seen") {
  constexpr int fresh = static_cast<int>(0xA5A5A5A5);
  view const v(Kokkos::view_alloc(Kokkos::WithoutInitializing, "v"), 2);
  CHECK(on_host(v) == std::vector<int>{fresh, fresh});
  host_view const late("late", 2);
  launch(2, write_index{v});
  Kokkos::deep_copy(Kokkos::Sham(), late, v);  // on an instance: it waits in the queue
  bool const eager = std::getenv("SHAM_EAGER") != nullptr;
  CHECK(late(1) == (eager ? 1 : 0));
  Kokkos::fence();
  CHECK(late(1) == 1);
  CHECK(sham::take_reports().empty());
}

TEST_CASE("what is launched runs in order, each kernel's last index first") {
  view const at("at", 1), order("order", 3);
  Kokkos::deep_copy(at, 5);
  launch(3, count_up{at.data(), order.data()});
  CHECK(on_host(order) == std::vector<int>{7, 6, 5});
  launch(2, count_up{at.data(), order.data()});
  launch(1, count_up{at.data(), order.data()});
  CHECK(on_host(order) == std::vector<int>{10, 8, 5});
}

TEST_CASE("freed memory is not used again") {
  int* before = nullptr;
  for (int i = 0; i < 3; ++i) {
    view const v("v", 1000);
    CHECK(v.data() > before);
    before = v.data();
  }
}

TEST_CASE("what touches freed memory, or what lies beyond an allocation, ends the program") {
  for (bool const freed : {true, false}) {
    pid_t const child = ::fork();
    if (child == 0) {
      ::close(2);  // the report
      auto* const at = static_cast<int*>(sham::allocate("v", 4096));
      if (freed) sham::free(at);
      inspected_array = at[freed ? 0 : 1024];
      std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
  }
}

TEST_CASE("a functor with an address of the host") {
  static int variable = 1;
  int local = 2;
  auto* const on_heap = new int(3);
  view const v("v", 1);
  struct expectation {
    int* from;
    char const* what;
  };
  for (expectation const& x :
       {expectation{&variable, "a variable or a function"}, {&local, "the stack"}, {on_heap, "the heap"}}) {
    launch(1, write_from{v.data(), x.from});
    Kokkos::fence();
    std::vector<std::string> const reports = sham::take_reports();
    REQUIRE(reports.size() == 1);
    CHECK(says(reports[0], x.what));
    CHECK(says(reports[0], "at byte 8"));
    CHECK(says(reports[0], "write_from"));
  }
  delete on_heap;
}

TEST_CASE("planted: a report that stays" * doctest::skip()) {
  view const v("planted", 1);
  inspected_array = v.data()[0];
}
