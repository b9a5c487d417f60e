// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Calls of which only the first run is compared, as in a release build: one rank calls an operation that is new to
/// all, new to itself alone, or known to all.

#include "scenarios.hpp"

namespace scenarios {

namespace {

template <class Mesh>
auto rows(Mesh const& mesh, int extent = 8) {
  return os::zeros<float, I/X, J>(mesh, I = extent, J = 6);
}

template <class Mesh>
void gather_rows(Mesh const& mesh, bool of_k) {
  if (of_k)
    static_cast<void>(os::all_gather<X>(os::zeros<float, I/X, K>(mesh, I = 8, K = 6)));
  else
    static_cast<void>(os::all_gather<X>(rows(mesh)));
}

}  // namespace

scenario_list first_runs() {
  return {
    {"has_another_extent_later",  // the others are in MPI already, for a call that they know
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       static_cast<void>(os::all_gather<X>(rows(mesh)));
       if (culprit()) tell_when();
       catching([&] { static_cast<void>(os::all_gather<X>(rows(mesh, culprit() ? 16 : 8))); });
     }},
    {"calls_another_operation_later",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       static_cast<void>(os::all_gather<X>(rows(mesh)));
       if (culprit()) tell_when();
       catching([&] {
         if (culprit())
           static_cast<void>(os::all_to_all<J/X>(rows(mesh)));
         else
           static_cast<void>(os::all_gather<X>(rows(mesh)));
       });
     }},
    {"works_in_another_group_later",  // rank 0 needs rank 1 along Y, rank 1 needs all ranks
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const a = os::zeros<float, I/X, J/Y>(mesh, I = 8, J = 6);
       static_cast<void>(os::all_gather<Y>(a));
       if (culprit()) tell_when();
       if (culprit())
         static_cast<void>(os::reshard<I, J>(a));
       else
         static_cast<void>(os::all_gather<Y>(a));
       if (rank_of_job() > 1) pause_ms(4000);  // else they report that rank 1 waits for them, too
     }},
    {"gathers_another_axis",  // as many elements: no rank waits for ever
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] { gather_rows(mesh, culprit()); });
       work(mesh);
     }},
    {"calls_what_all_know",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       gather_rows(mesh, true);
       gather_rows(mesh, false);
       catching([&] { gather_rows(mesh, culprit()); });
       work(mesh);
     }},
    {"has_many_extents",  // lawful: all of them new, and again
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       for (int run = 0; run < 2; ++run)
         for (int n = 0; n < 200; ++n) {
           auto const a = os::generate<std::int64_t, I/X, J/Y>(mesh, I = n % 50, J = n / 10 + 1,
                                                               [](std::int64_t i, std::int64_t) { return i; });
           if (os::value(os::sum<>(a)) != (n % 50) * (n % 50 - 1) / 2 * (n / 10 + 1))
             throw std::logic_error("a wrong sum");
         }
     }},
    {"calls_from_two_places",  // lawful: devices are in different lines of the program, and call the same
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::generate<std::int64_t, I/X>(mesh, I = 11, KOKKOS_LAMBDA(std::int64_t i) { return i + 1; });
       for (int run = 0; run < 3; ++run) {
         bool const here = culprit() == (run % 2 == 0);
         auto const sum = here ? os::value(os::sum<>(a)) : os::sum<>(a).local()();
         if (sum != 66) throw std::logic_error("a wrong sum");
       }
       work(mesh);
     }},
    {"begins_before_a_message",  // lawful: rank 1 begins when rank 0, which has begun, tells it to
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::generate<std::int64_t, I/X>(mesh, I = 12, KOKKOS_LAMBDA(std::int64_t i) { return i + 1; });
       auto const await = [](int turn) {
         int received = turn;
         if (rank_of_job() == 1) MPI_Recv(&received, 1, MPI_INT, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       };
       auto const notify = [](int turn) {
         if (rank_of_job() == 0) MPI_Send(&turn, 1, MPI_INT, 1, turn, MPI_COMM_WORLD);
       };
       work(mesh);  // the devices' group is made, which all of them wait for
       await(0);
       auto whole = os::start_reshard<I>(a);
       notify(0);
       if (std::move(whole).wait().local()(11) != 12) throw std::logic_error("a wrong element");
       auto const sums = os::shard_map<>(
           [&](auto block) {
             await(1);
             auto next = os::start_shift<X>(block, +1);
             notify(1);
             await(2);
             auto sum = os::start_psum<X>(os::sum<>(block));
             notify(2);
             static_cast<void>(std::move(next).wait());
             await(3);
             auto gathered = os::start_gather_to<I/X>(block, 0);
             auto first = os::start_pbroadcast<X>(os::sum<>(block), 0);
             notify(3);
             static_cast<void>(std::move(gathered).wait());
             static_cast<void>(std::move(first).wait());
             return std::move(sum).wait();
           },
           a);
       if (os::value(sums) != 78) throw std::logic_error("a wrong sum");
     }},
  };
}

}  // namespace scenarios
