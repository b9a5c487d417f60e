// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::exchange_halo<os::halo<I, 1>/X>(a)`: in the body of os::shard_map, returns a block with the
/// neighbouring indices of I before and after its own, from other devices along X. float[I, J] {V_X} → float[I(1), J]
/// {V_X}
///
///     auto u = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);       padded, corners included
///     auto v = os::stencil(laplacian{}, u);                                        float[I, J] {V_XY} again
///
/// Blocks may be uneven, and narrower than the halo. There is no device beyond the ends of an axis: os::periodic closes
/// the axis into a ring. Without it, a new padded block has zeros there, or os::boundary = 2.5, and an existing target
/// keeps its values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/blocks/make_block.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/moves/halo_flight.hpp>
#include <ostraka/local_view/halos/halo_calls.hpp>
#include <ostraka/local_view/halos/halo_options.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class>
struct stencil_operand;

}  // namespace detail

/// A padded block with margins in transit. It cannot be read before `wait`, which all devices must call in the same
/// order; the destructor waits, too. os::stencil accepts it, and computes the points that need no margins meanwhile.
template <class Padded>
class [[nodiscard]] pending_halo {
 public:
  using padded = Padded;  ///< the type of the padded block

  pending_halo(Padded const& target, typename Padded::view_type::const_type source, engine::run_in_flight flight,
               std::uint32_t waits_for)
      : target_(target), source_(std::move(source)), waits_for_(waits_for), flight_(std::move(flight)) {}

  pending_halo(pending_halo&&) = default;
  /// Waits for the exchange that this object held, while the memory that it reads and writes still exists.
  pending_halo& operator=(pending_halo&& other) {
    if (this == &other) return *this;
    flight_.wait();
    target_ = std::move(other.target_);
    source_ = std::move(other.source_);
    waits_for_ = other.waits_for_;
    flight_ = std::move(other.flight_);
    return *this;
  }

  /// Lets messages make progress, without waiting. @returns true if they have arrived
  bool test() { return flight_.test(); }

  /// Waits, and returns the padded block.
  Padded wait() && {
    flight_.wait();
    return std::move(target_);
  }

  /// Does not compile: pass the block on by std::move.
  Padded wait() & {
    reason::raise<reason::pending_value_not_moved<pending_halo>>();
    return std::move(*this).wait();
  }

 private:
  template <class>
  friend struct detail::stencil_operand;

  Padded target_;
  typename Padded::view_type::const_type source_;
  std::uint32_t waits_for_;
  engine::run_in_flight flight_;
};

template <class Padded>
inline constexpr bool is_pending<pending_halo<Padded>> = true;

namespace detail {

template <class T>
inline constexpr bool is_pending_halo = false;
template <class Padded>
inline constexpr bool is_pending_halo<pending_halo<Padded>> = true;

// Begins the exchange from `a` to `target`, or within the block if they are the same. `Fresh`: the target is not filled
// yet. Without check mode, a first run is compared only if the caller waits at once, because the comparison waits for
// the other devices.
template <class Types, bool Waits, bool Fresh, class... Options, class Padded, class A>
pending_halo<Padded> begin_exchange(char const* operation, engine::device_mesh const& mesh, engine::halo_plan& plan,
                                    Padded const& target, A const& a, [[maybe_unused]] Options const&... options) {
  using value = typename Padded::value_type;
  using exec = execution_space_type<Padded>;
  using source = typename Padded::view_type::const_type;
  engine::communicator const& members = mesh.group(plan.shape.group());
  if (Waits || mesh.world().compares_calls())
    engine::require_agreement(
        members, [&] { return Types::template key_of_call<value>(operation, plan.shape); },
        [&] { return Types::template describe<value>(operation, plan.shape); });
  if constexpr (Fresh) {
    value const boundary = boundary_among<value>(operation, options...);
    if (plan.shape.corners)
      engine::fill_beyond(engine::instance<exec>(), plan, target.local().data(), boundary);
    else  // fills corners, too
      fill_block(operation, target, boundary);
  }
  return {target, std::is_same_v<A, Padded> ? source() : source(a.local()),
          engine::begin_halo<engine::halo_way::exchange>(engine::instance<exec>(), mesh, operation, members, plan,
                                                         static_cast<value const*>(a.local().data()),
                                                         target.local().data()),
          waited_for(plan.shape)};
}

// Begins an exchange into a new padded block.
template <bool Waits, class... Dim, class A, class... Options>
auto start_halo(char const* operation, A const& a, Options const&... options) {
  using types = halo_types<sharding_in<A>, Dim...>;
  using value = typename A::value_type;
  using padded = basic_tensor<value, typename types::padded, typename A::space>;
  static constexpr halo_asked asked = types::template asked<Options...>();
  engine::device_mesh const& mesh = *common_mesh(operation, a);
  engine::exclusive_use const used = mesh.use(operation);
  static thread_local constinit halo_calls<A>* calls = nullptr;
  engine::halo_plan& plan = engine::per_thread(calls).of(mesh, a, [&] {
    halo_call<A> call(a);
    return halo_shape_of(halo_context<types>(operation, mesh), types::spec, types::moving, asked, call.extents.data(),
                         call.local.data(), call.origins.data());
  });
  halo_call<A> const own(a);
  extent_origins<A::rank> of_padded = own.origins;
  typename padded::extents_type extents = own.extents;
  std::int64_t local[max_rank + 1]{};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    int const more = asked.margins[d].both();
    extents[d] += more;
    local[d] = own.local[d] + more;
    of_padded[d] = of_padded[d].padded_by(more);
    if (more > 0) of_padded[d].is_undivided = plan.shape.axis[d].ways == 1;
  }
  auto const target = make_block<padded>(a.mesh_handle(), extents, local, of_padded);
  return begin_exchange<types, Waits, true>(operation, mesh, plan, target, a, options...);
}

[[noreturn, gnu::cold]] inline void throw_halo_extents(std::string_view operation, std::string_view axis,
                                                       std::int64_t wanted, std::int64_t got) {
  throw_error(operation, ": a padded block has the extents of the block, with the halo at either end, but ", axis,
              " has ", got, " indices instead of ", wanted, "; make it with os::exchange_halo of such a block");
}

// Throws, on all devices alike, if the blocks of an array begin at other indices than those of a tensor.
template <std::size_t Rank>
void refuse_other_begins(char const* operation, std::array<std::int64_t const*, Rank> const& begins) {
  for (std::int64_t const* of_axis : begins)
    if (of_axis != nullptr)
      throw_error(operation,
                  ": a tensor's block fills an array that is divided as tensors are, but this array's blocks begin "
                  "elsewhere (os::at); copy what each device owns with os::copy_to_blocks, and exchange it in place");
}

// The shape of an exchange into a padded block, from a block or from its own inner part. Makes all checks first.
template <class Types, class Padded, class A>
engine::halo_shape shape_of_exchange_into(char const* operation, engine::device_mesh const& mesh,
                                          halo_asked const& asked, Padded const& target, A const& a) {
  constexpr bool in_place = std::is_same_v<A, Padded>;
  engine::execution_context const w = halo_context<Types>(operation, mesh);
  halo_call<A> own(a);
  halo_call<Padded> const to(target);
  if constexpr (is_ghosted<Padded> && !in_place) refuse_other_begins(operation, target.begins());
  for (std::size_t d = 0; d < own.extents.size(); ++d) {
    int const more = asked.margins[d].both();
    if (in_place) {
      own.extents[d] -= more;
      own.local[d] -= more;
      own.origins[d] = own.origins[d].padded_by(-more);
    }
    std::string_view const axis = w.names.labels[d];
    if constexpr (varying_in<Padded>::size > 0)
      joined_origin(operation, axis, to.origins[d], own.origins[d].padded_by(more));
    if (own.local[d] + more != to.local[d]) throw_halo_extents(operation, axis, own.local[d] + more, to.local[d]);
  }
  engine::halo_shape shape = halo_shape_of(w, Types::spec, Types::moving, asked, own.extents.data(), own.local.data(),
                                           own.origins.data(), to.strides.begins());
  shape.in_place = in_place;
  return shape;
}

template <bool Waits, class... Dim, class Padded, class A, class... Options>
auto start_halo_into(char const* operation, Padded const& target, A const& a, Options const&... options) {
  using types = halo_types<sharding_without_halos_along<sharding_in<A>, Dim...>, Dim...>;
  static constexpr halo_asked asked = types::template asked<Options...>();
  engine::device_mesh const& mesh = *common_mesh(operation, target);
  if constexpr (!std::is_same_v<A, Padded>) common_mesh(operation, a);
  engine::exclusive_use const used = mesh.use(operation);
  auto const shape = [&] { return shape_of_exchange_into<types>(operation, mesh, asked, target, a); };
  auto const plan = [&]() -> engine::halo_plan& {
    if constexpr (std::is_same_v<A, Padded>) {
      static thread_local constinit halo_calls<A>* calls = nullptr;
      return engine::per_thread(calls).of(mesh, a, shape);
    } else {
      static thread_local constinit halo_calls<A, Padded>* calls = nullptr;
      return engine::per_thread(calls).of(mesh, a, shape, target);
    }
  };
  return begin_exchange<types, Waits, false>(operation, mesh, plan(), target, a, options...);
}

template <class Block, class... Dim>
using halo_arguments_verdict = first_fault<typename decltype(check_halo_argument<Block, Dim>())::type...>;

template <class T, class... Options>
using halo_options_verdict = first_fault<typename halo_option<T, Options>::verdict...>;

// Checks that the named halos have the mesh axes that divide an array.
template <class Padded, class... Dim>
consteval auto check_halo_mesh_axes() {
  return found<reason::ok>{};
}
template <Ghosted Padded, class... Dim>
consteval auto check_halo_mesh_axes() {
  return []<class... Entries>(sharding<Entries...>) {
    return found<first_fault<std::conditional_t<is_one_of<Dim, Entries...>, reason::ok,
                                                reason::halo_division_mismatch<Dim, sharding<Entries...>>>...>>{};
  }(typename Padded::divided_type{});
}

template <class Padded, class Block, class... Dim>
consteval auto check_halo_target() {
  if constexpr (!Tensor<Padded> && !is_ghosted<Padded>) {
    return found<reason::collective_of_a_non_tensor<Padded>>{};
  } else if constexpr (!std::is_same_v<typename decltype(check_halo_mesh_axes<Padded, Dim...>())::type, reason::ok>) {
    return check_halo_mesh_axes<Padded, Dim...>();
  } else {
    using own = halo_arguments_verdict<Block, Dim...>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return found<own>{};
    else if constexpr (!std::is_same_v<sharding_in<Padded>,
                                       typename padded_sharding<sharding_in<Block>, Dim...>::type> ||
                       !std::is_same_v<typename Padded::value_type, typename Block::value_type>)
      return found<reason::halo_target_mismatch<sharding_in<Padded>, sharding_in<Block>>>{};
    else
      return found<writable_verdict<Padded>>{};
  }
}

template <class Padded, class... Dim>
using block_within = basic_tensor<typename Padded::value_type,
                                  sharding_without_halos_along<sharding_in<Padded>, Dim...>, typename Padded::space>;

}  // namespace detail

namespace operation {

/// The type of os::exchange_halo<os::halo<I, 1>/X>.
template <class... Dim>
struct exchange_halo : detail::collective<exchange_halo<Dim...>> {
  using writes_strides = void;
  static constexpr char const* name = "exchange_halo";
  template <class A, class... Options>
  using verdict = detail::first_fault<detail::halo_arguments_verdict<A, Dim...>,
                                      detail::halo_options_verdict<typename A::value_type, Options...>>;

  template <class A, class... Options>
  [[nodiscard]] detail::moves_of_call moved(A const& a, Options const&...) const {
    return detail::moves_of_halos<sharding_in<A>, Dim...>(name, a, type_list<Options...>{});
  }

  template <class How, class A, class... Options>
  auto run(How const&, A const& a, Options const&... options) const {
    if constexpr (How::is_begun)
      return detail::start_halo<false, Dim...>("start_exchange_halo", a, options...);
    else
      return detail::start_halo<true, Dim...>(name, a, options...).wait();
  }
};

/// Fills the margins of a padded block in place, from its inner part and those of its neighbours.
template <class... Dim>
struct renew_halo : detail::collective<renew_halo<Dim...>> {
  using takes_strides = void;
  static constexpr char const* name = "exchange_halo_into";

  template <class Padded, class... Options>
  [[nodiscard]] detail::moves_of_call moved(Padded const& a, Options const&...) const {
    return detail::moves_of_halos<detail::sharding_without_halos_along<sharding_in<Padded>, Dim...>, Dim...>(
        name, a, type_list<Options...>{});
  }
};

}  // namespace operation

namespace detail {

template <class Padded, class A, class... Dim>
struct halo_written_to {
  template <class Operation, class... Options>
  static void run(Operation const&, Padded const& target, A const& a, Options const&... options) {
    static_cast<void>(start_halo_into<true, Dim...>("exchange_halo_into", target, a, options...).wait());
  }
  template <class Operation, class... Options>
  static auto start(Operation const&, Padded const& target, A const& a, Options const&... options) {
    return start_halo_into<false, Dim...>("start_exchange_halo_into", target, a, options...);
  }
};

template <class... Dim, class Padded, class A, class... Options>
struct written_to<ostraka::operation::exchange_halo<Dim...>, Padded, A, Options...>
    : halo_written_to<Padded, A, Dim...> {
  using verdict = first_fault<typename decltype(check_halo_target<Padded, A, Dim...>())::type,
                              halo_options_verdict<typename A::value_type, Options...>>;
};
template <class... Dim, class Padded, class... Options>
struct written_to<ostraka::operation::renew_halo<Dim...>, Padded, Padded, Options...>
    : halo_written_to<Padded, Padded, Dim...> {
  using verdict =
      first_fault<typename decltype(check_halo_target<Padded, block_within<Padded, Dim...>, Dim...>())::type,
                  halo_options_verdict<typename Padded::value_type, Options...>>;
};

// The type of os::exchange_halo_into<os::halo<I, 1>/X> and of os::start_exchange_halo_into<…>.
template <class When, class... Dim>
struct exchange_halo_into : verb_base {
  template <class Padded, class... Options>
  auto operator()(Padded const& target, Options const&... options) const {
    return operate_how(into<Padded, When>{target}, ostraka::operation::renew_halo<Dim...>{}, target, options...);
  }
  template <class Padded, TensorOrVariable A, class... Options>
  auto operator()(Padded const& target, A const& a, Options const&... options) const {
    return operate_how(into<Padded, When>{target}, ostraka::operation::exchange_halo<Dim...>{}, a, options...);
  }
};

}  // namespace detail

/// Adds halos to a block: each axis named as os::halo<I, width>/X gets `width` more indices at either end, from its
/// neighbours along X, and from their neighbours if blocks are narrower than that. Options follow the block in any
/// order: os::periodic, or os::periodic(I) for some axes; os::boundary = 2.5, the value beyond the ends (else 0);
/// os::faces, to leave out corners. Sends one message to each neighbour. Collective over the named mesh axes.
/// @throws ostraka::error, on all devices alike, if a halo is wider than its axis
template <auto... Halos>
inline constexpr operation::exchange_halo<detail::type_of<Halos>...> exchange_halo{};

/// Starts the exchange, and returns an os::pending_halo: wait for it, or pass it to os::stencil. The exchange reads the
/// block until then.
template <auto... Halos>
inline constexpr detail::started<operation::exchange_halo<detail::type_of<Halos>...>> start_exchange_halo{};

/// `os::exchange_halo_into<os::halo<I, 1>/X>(padded)` refills the margins; `(padded, a)` also copies a block into it.
/// Values beyond the ends of an axis are kept. Allocates no memory.
template <auto... Halos>
inline constexpr detail::exchange_halo_into<detail::at_once, detail::type_of<Halos>...> exchange_halo_into{};

/// Starts the same exchange, which reads the block until `wait`.
template <auto... Halos>
inline constexpr detail::exchange_halo_into<detail::later, detail::type_of<Halos>...> start_exchange_halo_into{};

}  // namespace ostraka
