// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Host threads of a rank that call operations at the same time.

#include <thread>
#include <vector>

#include "scenarios.hpp"

namespace scenarios {

scenario_list host_threads() {
  return {
    {"is_called_by_two_threads",  // at the same time, on meshes of their own, though MPI serves one
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const other = a_line(env.devices());
       if (culprit()) pause_ms(600);  // the others wait in `work` meanwhile
       std::thread second([&] {
         if (culprit()) return;
         pause_ms(200);
         catching([&] { work(other); });
       });
       work(mesh);
       second.join();
       work(other);
     }},
    {"threads_work",  // as many as there are slots for threads, and more, each on its mesh, and one rank is late
     [](os::environment& env) {
       std::vector<decltype(a_line(2))> meshes;
       for (int t = 0; t < 12; ++t) meshes.push_back(a_line(env.devices()));
       std::vector<std::thread> threads;
       for (auto const& mesh : meshes)
         threads.emplace_back([&] {
           for (int n = 0; n < 10; ++n) work(mesh);
           if (culprit()) pause_ms(300);
           work(mesh);
         });
       for (std::thread& t : threads) t.join();
     }},
    {"threads",  // docs/threads.md
     [](os::environment&) {
       auto const one = os::make_mesh(X = 4);
       auto const other = os::make_mesh(X = 4);
       std::thread second([&] { work(other); });  // with the second threads of the other ranks
       work(one);
       second.join();
     }},
    {"adopts_unlike_threads",  // a decision of all ranks does not depend on MPI's answer to one
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const other = os::make_mesh(X = env.devices() / 2, Y = 2);
       for (auto const* each : {&mesh, &other}) {
         auto const a = os::zeros<float, I/X, J/Y>(*each, I = 8, J = 6);
         static_cast<void>(os::all_gather<Y>(a));
         static_cast<void>(os::reshard<I, J>(a));
       }
     }},
    {"threads_returns",  // while two threads of the others wait for it
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const other = a_line(env.devices());
       work(mesh);
       if (culprit()) return tell_when();
       std::thread second([&] { work(other); });
       work(mesh);
       second.join();
     }},
  };
}

}  // namespace scenarios
