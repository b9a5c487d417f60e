// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::ragged_all_to_all_into<I/X>(out, a, from, rows, to)`: in the body of os::shard_map, sends rows of
/// blocks to other devices in numbers that are known only at run time: the exchange of a mixture of experts. Also split
/// into start and wait, as `os::start_ragged_all_to_all<I/X>`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/creation/copy.hpp>
#include <ostraka/engine/block_collectives/ragged_moves.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class A, class Out>
consteval auto check_same_block_axes() {
  if constexpr (!std::is_same_v<sharding_in<A>, sharding_in<Out>>)
    return found<reason::assigned_another_sharding<sharding_in<A>, sharding_in<Out>>>{};
  else
    return found<reason::ok>{};
}

[[noreturn, gnu::cold]] inline void throw_ragged_counts(std::size_t given, int devices) {
  throw_error("ragged_all_to_all: each list of offsets or numbers of rows has one entry for each of the ", devices,
              " devices, but one list has ", given, "; give 0 rows where none are sent");
}

using row_numbers = dynamic_array<std::int64_t>;

template <class Numbers>
row_numbers row_numbers_of(Numbers const& given) {
  row_numbers all;
  for (std::size_t k = 0; k < given.size(); ++k) all.push_back(static_cast<std::int64_t>(given[k]));
  return all;
}

template <class A, class Out, class I, class... Ms>
using ragged_verdict =
    first_fault<varies_verdict<A, Ms...>, not_divided_verdict<A, I>,
                typename decltype(check_same_block_axes<A, Out>())::type, writable_verdict<Out>,
                elements_verdict<A, Out>>;

// Sends rows of `a` to the `out` of other devices, now or later as `When` says. `out` is the result.
template <class When, class I, class... Ms, class Out, class A>
auto ragged(over<I, Ms...>, Out const& out, A const& a, row_numbers const& from, row_numbers const& rows,
            row_numbers const& to) {
  using mesh = union_of<type_list<Ms...>, mesh_axes_in<A>>;
  static constexpr planner::spec block = spec_of<A, axes_in<A>, mesh>;
  named_group g = group_of<A, Ms...>("ragged_all_to_all", a);
  engine::device_mesh const* const meshes[] = {a.mesh_handle().get(), out.mesh_handle().get()};
  common_mesh("ragged_all_to_all", meshes, 2);
  constexpr int along = position_in<I, axes_in<A>>;
  g.w.sizes.label[along] = -1;  // each device's own
  extent_origins<A::rank> origins = a.origins();
  require_equal_extents(g, A::rank, a.extents().data(), origins.data(), along);
  for (int i = 0; i < A::rank; ++i) {
    if (i == along) continue;
    auto const k = static_cast<std::size_t>(i);
    joined_origin("ragged_all_to_all", g.w.names.labels[i], a.origins()[k], out.origins()[k]);
    if (a.extents()[k] != out.extents()[k]) throw_extents_differ("ragged_all_to_all", g.w.names.labels[i]);
  }
  memory_range const read = memory_of(a);
  refuse_shared_memory(g.w, engine::steps_ahead(), "os::ragged_all_to_all", memory_of(out), &read, 1);
  std::size_t wrong = static_cast<std::size_t>(g.size);  // the length of a list of the wrong length
  for (std::size_t const n : {from.size(), rows.size(), to.size()})
    if (n != static_cast<std::size_t>(g.size)) wrong = n;
  bool const fits = wrong == static_cast<std::size_t>(g.size);
  return launch_on<When>(g, out, a, [&] {
    engine::short_array<std::int64_t> lists[3];
    for (int d = 0; d < 3 * g.size; ++d) lists[d / g.size].push_back(0);
    for (int d = 0; d < g.size; ++d) {
      auto const m = static_cast<std::size_t>(g.member(d)), k = static_cast<std::size_t>(d);
      lists[0].data()[m] = fits ? from[k] : 0;
      lists[1].data()[m] = fits ? rows[k] : -1;  // all devices receive the −1, and refuse it
      lists[2].data()[m] = fits ? to[k] : 0;
    }
    try {
      return engine::begin_ragged(execution_space_of<A>(), g.w, block, g.axes, along, readable_block(a),
                                  writable_block(out), {lists[0].data(), lists[1].data(), lists[2].data()});
    } catch (error const&) {
      if (!fits) throw_ragged_counts(wrong, g.size);
      throw;
    }
  });
}

}  // namespace detail

namespace operation {

/// os::ragged_all_to_all<I/X> with its numbers of rows. This template serves arguments that are not a divided axis.
template <class Dim>
struct ragged_all_to_all {
  static constexpr char const* name = "ragged_all_to_all";
  detail::row_numbers from, rows, to;

  template <class...>
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class I, class... Ms>
struct ragged_all_to_all<over<I, Ms...>> {
  static constexpr char const* name = "ragged_all_to_all";
  detail::row_numbers from, rows, to;

  template <class A, class Out>
  using verdict = detail::ragged_verdict<A, Out, I, Ms...>;

  template <class When, class A, class Out>
  auto run(When const&, A const& a, Out const& out) const {
    return detail::ragged<When>(over<I, Ms...>{}, ostraka::copy(out), a, from, rows, to);
  }
};

}  // namespace operation

namespace detail {

template <class Dim, class Out, class A>
struct written_to<ostraka::operation::ragged_all_to_all<Dim>, Out, A> {
  using operation = ostraka::operation::ragged_all_to_all<Dim>;
  using verdict = typename operation::template verdict<A, Out>;

  static void run(operation const& o, Out const& out, A const& a) {
    static_cast<void>(ragged<at_once>(Dim{}, out, a, o.from, o.rows, o.to));
  }
  static auto start(operation const& o, Out const& out, A const& a) {
    return ragged<later>(Dim{}, out, a, o.from, o.rows, o.to);
  }
};

template <class Dim, class From, class Rows, class To>
ostraka::operation::ragged_all_to_all<Dim> ragged_by(From const& from, Rows const& rows, To const& to) {
  return {row_numbers_of(from), row_numbers_of(rows), row_numbers_of(to)};
}

}  // namespace detail

/// Sends rows to other devices: for each device e along the mesh axes of `Dim`, rows [from[e], from[e] + rows[e]) of
/// `a` along its axis go to rows [to[e], to[e] + rows[e]) of e's `out`. Rows that no device sends keep their values.
/// The lists have an entry for each device (std::vector, std::array, …). Collective.
/// @throws ostraka::error, on all devices alike and before any row is sent, if rows do not exist, or arrive twice
template <auto Dim, TensorOrVariable Out, TensorOrVariable A, class From, class Rows, class To>
void ragged_all_to_all_into(Out const& out, A const& a, From const& from, Rows const& rows, To const& to) {
  detail::operate_how(detail::into{out}, detail::ragged_by<detail::type_of<Dim>>(from, rows, to), a);
}

/// Starts the exchange: on return the devices have sent each other the numbers of rows, and the rows are on their way.
/// `wait` returns `out`, which must be neither read nor written until then.
template <auto Dim, TensorOrVariable Out, TensorOrVariable A, class From, class Rows, class To>
[[nodiscard]] auto start_ragged_all_to_all_into(Out const& out, A const& a, From const& from, Rows const& rows,
                                                To const& to) {
  return detail::operate_how(detail::into<Out, detail::later>{out},
                             detail::ragged_by<detail::type_of<Dim>>(from, rows, to), a);
}

/// The same into a copy of `out`, which is returned. The numbers of rows are constants to a derivative.
template <auto Dim, TensorOrVariable A, TensorOrVariable Out, class From, class Rows, class To>
[[nodiscard]] auto ragged_all_to_all(A const& a, Out const& out, From const& from, Rows const& rows, To const& to) {
  return detail::operate(detail::ragged_by<detail::type_of<Dim>>(from, rows, to), a, out);
}

/// Starts the exchange into a copy, which reads its operand until `wait`.
template <auto Dim, TensorOrVariable A, TensorOrVariable Out, class From, class Rows, class To>
[[nodiscard]] auto start_ragged_all_to_all(A const& a, Out const& out, From const& from, Rows const& rows,
                                           To const& to) {
  return detail::operate_how(detail::later{}, detail::ragged_by<detail::type_of<Dim>>(from, rows, to), a, out);
}

}  // namespace ostraka
