// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1
// labels: essential

/// @file
/// The instance of an execution space that a record of something in flight holds: that of its flight, until the flight
/// has ended or could not begin, and none while it waits for the next. Kokkos 5 aborts a program if one is left over.
// sham:

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

#include <ostraka/engine/moves/flight.hpp>

namespace engine = ostraka::engine;

namespace {

// A stream, counted by its handles, as Kokkos' instances are.
struct stream {
  using memory_space = Kokkos::HostSpace;

  std::shared_ptr<int> number;
};

class record final : public engine::detail::flight_on<stream> {
 public:
  int begin() { return *exec().number; }
  void wait() { engine::detail::flight_records<record>::instance().give_back(*this); }

  record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return true; }
  void finish() override {}
  void give_back() noexcept override { wait(); }
};

record& begun_on(stream const& s) { return engine::detail::flight_records<record>::instance().take(s); }

}  // namespace

TEST_CASE("a record holds the instance of its flight until the flight has ended") {
  stream const first{std::make_shared<int>(1)}, second{std::make_shared<int>(2)};
  record& a = begun_on(first);
  record& b = begun_on(second);
  CHECK(a.begin() == 1);
  CHECK(b.begin() == 2);
  CHECK(first.number.use_count() == 2);
  a.wait();
  CHECK(first.number.use_count() == 1);
  record& again = begun_on(second);
  CHECK(&again == &a);
  CHECK(again.begin() == 2);
  CHECK(second.number.use_count() == 3);
  again.wait();
  b.wait();
  CHECK(second.number.use_count() == 1);
}

TEST_CASE("a flight that could not begin lets its instance go") {
  stream const one{std::make_shared<int>(1)};
  CHECK_THROWS_AS(static_cast<void>(engine::detail::begin_record<record>(
                      one, [](record&) { throw std::runtime_error("no memory"); })),
                  std::runtime_error);
  CHECK(one.number.use_count() == 1);
}
