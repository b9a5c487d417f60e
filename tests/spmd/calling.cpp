// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One rank calls another operation than the others, with other sizes, or in another group. In lawful scenarios only
/// groups that do not need each other differ.

#include <cstdint>
#include <stdexcept>
#include <string>

#include <ostraka/operations/creation/sample.hpp>

#include "scenarios.hpp"

namespace scenarios {

scenario_list calling() {
  return {
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
    {"calls_another_collective",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(mesh, I = 8, J = 6);
       catching([&] {
         static_cast<void>(os::shard_map<I, J>(
             [](auto block) {
               if (culprit()) return os::pmax<X>(block);
               return os::psum<X>(block);
             },
             a));
       });
       work(mesh);
     }},
    {"makes_a_mesh_of_two", [](os::environment&) { catching([] { static_cast<void>(a_line(2)); }); }},
    {"leaves_with_another_result",  // behind the back of its type
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I>(mesh, I = 8);
       auto const b = os::ones<float, I>(mesh, I = 8);
       auto const divided = os::zeros<float, I/X>(mesh, I = 8);
       catching([&] {
         static_cast<void>(os::shard_map<I>(
             [&](auto block) { return os::axis_index<X>(block).value() == 1 ? b : a; }, divided));
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
    {"cuts_other_microbatches",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const x = os::zeros<float, I, J>(mesh, I = 8, J = 2);
       auto const w = os::zeros<float, L/X, J>(mesh, L = 4, J = 2);
       catching([&] {
         static_cast<void>(os::pipeline<os::gpipe, L/X, I>(
             os::microbatches = culprit() ? 2 : 4,
             [](auto const& h, auto const& v) { return os::multiply(h, os::sum<J>(v)); }, x, w));
       });
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
    // Plans for these sizes: if J is 1, every device computes the product of A and B, else each device computes a part,
    // and the parts are gathered over X.
    {"has_another_extent_at_hand",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       int const j = culprit() ? 64 : 1;
       auto const a = os::zeros<float, I, J>(mesh, I = 8, J = j);
       auto const b = os::zeros<float, J, K>(mesh, J = j, K = 8);
       auto const c = os::zeros<float, L/X>(mesh, L = 4);
       catching([&] {
         static_cast<void>(os::einsum<I, K, L/X>(a, b, c, os::least_time<1>(os::for_these_sizes)));
       });
       work(mesh);
     }},
    {"has_operands_that_disagree_at_hand",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I, J>(mesh, I = 8, J = culprit() ? 2 : 1);
       auto const b = os::zeros<float, J, K>(mesh, J = 1, K = 8);
       auto const c = os::zeros<float, L/X>(mesh, L = 4);
       catching([&] {
         static_cast<void>(os::einsum<I, K, L/X>(a, b, c, os::least_time<1>(os::for_these_sizes)));
       });
       work(mesh);
     }},
    {"has_another_seed",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] { static_cast<void>(os::random<float, I/X, J>(mesh, I = 8, J = 6, os::seed(culprit() ? 4 : 3))); });
       work(mesh);
     }},
    {"samples_another_way",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I, J/X>(mesh, I = 8, J = 6);
       catching([&] { static_cast<void>(os::sample<J/X>(a, os::seed(1), os::top_p(culprit() ? 0.9 : 1))); });
       work(mesh);
     }},
    {"shifts_another_way",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(mesh, I = 8, J = 6);
       auto const shifted = [](auto const& block) { return os::shift<X>(block, culprit() ? 2 : 1); };
       catching([&] { static_cast<void>(os::shard_map<I/X, J>(shifted, a)); });
       work(mesh);
     }},

    {"reads_beyond_a_halo",  // before, behind, aside, to a corner; in the second block; and not at all
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       auto const a = os::zeros<float, I/X, J>(mesh, I = 9, J = 5);
       auto const says = [&](auto const& f, std::string const& wanted) {
         std::string said = "nothing";
         try {
           static_cast<void>(os::shard_map<I/X, J>(
               [&](auto block) {
                 auto const wide = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 2>>(block);
                 return os::stencil(f, wide, block, os::exchange_halo<os::halo<J, 1>>(block));
               },
               a));
         } catch (os::error const& e) {
           said = e.what();
         }
         if (said.find(wanted) == std::string::npos) throw std::logic_error("said " + said + ", not " + wanted);
       };
       says([](auto u, float, auto) { return u(2, 0); }, "it reads u(2, 0) of a halo of 1 along I;");
       says([](auto u, float, auto) { return u(0, 0) - u(-2, 1); }, "it reads u(-2, 1) of a halo of 1 along I;");
       says([](auto u, float v, auto) { return v * u(1, -3); }, "it reads u(1, -3) of a halo of 2 along J;");
       says([](auto u, float, auto) { return u(5, 7); }, "it reads u(5, 7) of a halo of 1 along I;");
       says([](auto u, float, auto w) { return u(1, 2) * w(2); }, "it reads u(2) of a halo of 1 along J;");
       says([](auto u, float, auto) { return u(0, 0) < 0 ? u(-3, 0) : u(1, 0); },
            "it reads u(-3, 0) of a halo of 1 along I;");
       says([](auto u, float v, auto w) { return u(1, 2) + u(-1, -2) + v + w(-1) + w(1); }, "nothing");
     }},

    {"works_in_another_group",  // rank 0 needs rank 1 along Y, rank 1 needs all ranks
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
    {"rows_differ",  // lawful: a row needs no other device until the columns meet; also in a ring of orders, where one
                     // device does not wait
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
}

}  // namespace scenarios
