// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Programs that go wrong on one rank, and some that only seem to; the argument says which. CMakeLists.txt beside it
/// says what each has to end with. Rank 1 is the culprit, and tells when.

#include <ostraka/ostraka.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

namespace os = ostraka;

namespace {

void pause_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

int rank_of_job() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

bool culprit() { return rank_of_job() == 1; }

// The script takes the time from here.
void tell_when() {
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  std::printf("at %lld us\n",
              static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  std::fflush(stdout);
  pause_ms(100);  // so that the launcher has read it
}

auto a_line(int ranks) { return os::make_mesh(X = ranks); }

// What everybody does: needs all ranks, and is right.
template <class Mesh>
void work(Mesh const& mesh) {
  auto const a = os::generate<std::int64_t, I/X>(mesh, I = 11, KOKKOS_LAMBDA(std::int64_t i) { return i + 1; });
  if (os::value(os::sum<>(a)) != 66) throw std::logic_error("a wrong sum");
}

// All ranks say what they caught, and go on.
template <class F>
void catching(F const& f) {
  try {
    f();
    std::printf("nothing caught\n");
  } catch (os::error const& e) {
    std::printf("caught: %s\n", e.what());
  }
  std::fflush(stdout);
}

// Before any communication, on all ranks alike.
template <class Mesh>
void disagree(Mesh const& mesh) {
  auto const a = os::zeros<float, I, J/X>(mesh, I = 8, J = 7);
  auto const b = os::zeros<float, J/X, K>(mesh, J = 6, K = 2);
  static_cast<void>(os::einsum<I, K>(a, b));
}

os::tensor<float, I/X, J> survivor;

int milliseconds_of_reduction = 0;  // that an all-reduce takes at least, as if over a slow network

}  // namespace

// In MPI all the time.
extern "C" int MPI_Allreduce(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
  double const end = MPI_Wtime() + milliseconds_of_reduction / 1000.0;
  for (int flag = 0; MPI_Wtime() < end;) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return PMPI_Allreduce(send, receive, count, type, operation, comm);
}

namespace {

using scenario = std::function<void(os::environment&)>;

// Rank 1 does this while the others work.
scenario one_does(std::function<void()> const& act) {
  return [act](os::environment& env) {
    auto const mesh = a_line(env.devices());
    work(mesh);
    if (culprit()) {
      tell_when();
      act();
    }
    work(mesh);
  };
}

std::map<std::string, scenario> const scenarios{
    {"nothing", one_does([] {})},
    {"throws", one_does([] { throw std::runtime_error("no luck"); })},
    {"exits", one_does([] { std::exit(3); })},
    {"exits_well", one_does([] { std::exit(0); })},
    {"aborts", one_does([] { std::abort(); })},
    {"is_killed", one_does([] { std::raise(SIGKILL); })},
    {"is_slow", one_does([] { pause_ms(2500); })},

    // All ranks, or several, do the same.
    {"all_throw", [](os::environment& env) { disagree(a_line(env.devices())); }},
    {"all_but_rank_1_throw",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       tell_when();
       if (!culprit()) throw std::runtime_error("no luck");
       work(mesh);
     }},
    {"all_throw_differently",
     [](os::environment& env) {
       work(a_line(env.devices()));
       tell_when();
       throw std::runtime_error(culprit() ? "no luck" : "no money");
     }},
    {"all_exit",
     [](os::environment& env) {
       work(a_line(env.devices()));
       tell_when();
       std::exit(3);
     }},
    {"tensors_outlive_it",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       survivor = os::zeros<float, I/X, J>(mesh, I = 8, J = 6);
       new auto(os::zeros<float, I, J>(mesh, I = 8, J = 6));  // a leak is no survivor
     }},
    {"tensors_are_let_go",
     [](os::environment& env) {
       survivor = os::zeros<float, I/X, J>(a_line(env.devices()), I = 8, J = 6);
       survivor = {};
     }},

    {"returns",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       if (culprit()) return tell_when();
       work(mesh);
     }},
    {"returns_before_a_mesh",
     [](os::environment& env) {
       work(a_line(env.devices()));
       if (culprit()) return tell_when();
       work(a_line(env.devices()));
     }},
    {"returns_before_a_group",  // which its column makes when it first needs it
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = 2, Y = env.devices() / 2);
       if (culprit()) return tell_when();
       static_cast<void>(os::all_gather<X>(os::zeros<float, I/X, J>(mesh, I = 8, J = 6)));
     }},
    {"is_slow_alone",  // the others are at the end
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       work(mesh);
       if (culprit()) pause_ms(2500);
     }},

    {"calls_another_operation",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(mesh, I = 8, J = 6);
       catching([&] {
         if (culprit())
           static_cast<void>(os::all_to_all<J/X>(a));
         else
           static_cast<void>(os::all_gather<X>(a));
       });
       work(mesh);
     }},
    {"has_another_extent",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I, J/X>(mesh, I = culprit() ? 9 : 8, J = 6);
       auto const b = os::zeros<float, J/X, K>(mesh, J = 6, K = 2);
       catching([&] { static_cast<void>(os::einsum<I, K>(a, b)); });
       work(mesh);
     }},
    {"gathers_another_extent",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(mesh, I = culprit() ? 9 : 8, J = 6);
       catching([&] { static_cast<void>(os::gather_to_root(a)); });
       work(mesh);
     }},
    {"uses_another_mesh",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const other = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(culprit() ? other : mesh, I = 8, J = 6);
       catching([&] { static_cast<void>(os::all_gather<X>(a)); });
       work(mesh);
     }},
    {"makes_a_mesh",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] {
         if (culprit())
           static_cast<void>(a_line(env.devices()));
         else
           work(mesh);
       });
       work(mesh);
     }},
    {"has_operands_that_disagree",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I, J/X>(mesh, I = 8, J = culprit() ? 7 : 6);
       auto const b = os::zeros<float, J/X, K>(mesh, J = 6, K = 2);
       catching([&] { static_cast<void>(os::einsum<I, K>(a, b)); });
       work(mesh);
     }},
    {"all_have_operands_that_disagree",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] { disagree(mesh); });
       work(mesh);
     }},

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
    {"threads_work",  // as many as the watch has slots for, and more, each on its mesh, and one rank is late
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

    {"is_in_a_barrier",  // of the program's own
     one_does([] { MPI_Barrier(MPI_COMM_WORLD); })},
    {"receives",  // from rank 0, which waits for it
     one_does([] { MPI_Recv(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); })},
    {"computes",  // and calls MPI now and then
     one_does([] {
       auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
       for (int flag = 0; std::chrono::steady_clock::now() < end; pause_ms(50))
         MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
     })},
    {"waits_for_who_computes",  // the last rank, in MPI: lawful
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       int const last = env.devices() - 1;
       if (culprit()) MPI_Recv(nullptr, 0, MPI_BYTE, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       if (rank_of_job() == last) {
         pause_ms(5000);
         MPI_Send(nullptr, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
       }
       work(mesh);
     }},
    {"waits_for_long_operations",  // rows whose devices differ in how long theirs take: lawful
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const a = os::generate<std::int64_t, I/X, J/Y>(mesh, I = 5, J = 3,
                                                           [](std::int64_t i, std::int64_t j) { return 10 * i + j; });
       if (mesh.coordinate(X) == 1) milliseconds_of_reduction = 6000;
       auto const rows = os::sum<I/X>(a);
       milliseconds_of_reduction = 0;
       static_cast<void>(os::all_gather<X>(rows));
     }},
    {"many_wait_for_a_barrier",  // groups of several meshes' axes, each with one that asks
     [](os::environment&) {
       auto const mesh = os::make_mesh(X = 2, Y = 2, Z = 2);
       auto const a = os::zeros<float, I/X, J/Y, K/Z>(mesh, I = 4, J = 4, K = 4);
       if (rank_of_job() == 0) {
         tell_when();
         MPI_Barrier(MPI_COMM_WORLD);
       }
       static_cast<void>(os::all_gather<X>(a));
       static_cast<void>(os::all_gather<Y>(a));
       static_cast<void>(os::all_gather<Z>(a));
     }},
    {"has_another_seed",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] { static_cast<void>(os::random<float, I/X, J>(mesh, I = 8, J = 6, os::seed(culprit() ? 4 : 3))); });
       work(mesh);
     }},

    {"works_in_another_group",  // rank 0 needs rank 1 along Y, rank 1 needs everybody
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const a = os::zeros<float, I/X, J/Y>(mesh, I = 8, J = 6);
       if (culprit()) {
         tell_when();
         static_cast<void>(os::reshard<I, J>(a));
       } else {
         static_cast<void>(os::all_gather<Y>(a));
       }
     }},
    {"closes_a_ring",  // 0 in X waits for 2, which in Y waits for 3, which in X waits for 1, which in Y waits for 0
     [](os::environment&) {
       auto const mesh = os::make_mesh(X = 2, Y = 2);
       auto const a = os::zeros<float, I/X, J/Y>(mesh, I = 8, J = 6);
       if (culprit()) tell_when();
       if (mesh.coordinate(X) == mesh.coordinate(Y))
         static_cast<void>(os::all_gather<X>(a));
       else
         static_cast<void>(os::all_gather<Y>(a));
     }},
    {"rows_differ",  // lawful: a row needs nobody else until the columns meet; in a ring of orders, too, where somebody
                     // does not wait
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const a = os::generate<std::int64_t, I/X, J/Y>(mesh, I = 5, J = 3,
                                                           [](std::int64_t i, std::int64_t j) { return 10 * i + j; });
       for (int n = 0; n < 20 * mesh.coordinate(X); ++n) {
         auto const row = os::all_gather<Y>(a);
         if (row.local().extent(1) != 3) throw std::logic_error("a wrong row");
       }
       if (mesh.coordinate(X) == 1) pause_ms(1200);
       auto const whole = os::reshard<I, J>(a);
       for (std::size_t i = 0; i < 5; ++i)
         for (std::size_t j = 0; j < 3; ++j)
           if (whole.local()(i, j) != static_cast<std::int64_t>(10 * i + j)) throw std::logic_error("a wrong element");
     }},
};

}  // namespace

int main(int argc, char** argv) {
  std::string const name = argc > 1 ? argv[1] : "";
  if (name == "throws_and_catches" ||
      name == "all_throw_and_catch") {  // outside of the environment, which the exception destroys
    try {
      os::environment env(argc, argv);
      scenarios.at(name == "throws_and_catches" ? "throws" : "all_throw")(env);
    } catch (std::exception const& e) {
      std::printf("caught outside: %s\n", e.what());
      return 0;
    }
  } else if (name == "goes_on_after_the_end" || name == "asks_after_the_end") {
    {
      os::environment env(argc, argv);
      scenarios.at("tensors_outlive_it")(env);
    }
    if (name == "goes_on_after_the_end") static_cast<void>(os::all_gather<X>(survivor));
    catching([] { static_cast<void>(os::all_gather<X>(survivor)); });
    catching([] { static_cast<void>(os::map(KOKKOS_LAMBDA(float v) { return v; }, survivor)); });
    catching([] { static_cast<void>(a_line(1)); });
    catching([&] { os::environment const again(argc, argv); });
  } else if (name == "finalizes" || name == "adopts") {  // MPI that is not ours
    MPI_Init(&argc, &argv);
    {
      os::environment env(argc, argv);
      if (name == "finalizes") scenarios.at("returns")(env);
      std::printf("%d threads\n", static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency()));
    }
    MPI_Finalize();
  } else if (name.rfind("threads", 0) == 0) {
    os::environment env(argc, argv, os::threads::multiple);  // MPI_THREAD_MULTIPLE; os::error if MPI does not give it
    scenarios.at(name)(env);
  } else {
    os::environment env(argc, argv);
    scenarios.at(name)(env);
  }
  std::printf("done\n");
}
