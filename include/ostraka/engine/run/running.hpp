// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A run of a schedule on blocks in memory: Kokkos' kernels and MPI's messages for the six verbs of
/// planner::advance. A run owns its workspace, one piece of the pool, so several can be in flight. It can stop after
/// each message and resume from there. It calls functions that only some plans need through a table
/// (run_functions.hpp).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/reduce.hpp>
#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/levels/levelled_reduce.hpp>
#include <ostraka/engine/levels/levelled_scatter.hpp>
#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/run/contract_in_tiles.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/one_product.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/run/report_run.hpp>
#include <ostraka/engine/run/run_functions.hpp>

namespace ostraka::engine {

/// The part of a run that tools see: the operation and its steps, the steps, or nothing.
enum class profiled_as : std::uint8_t { operation, steps, nothing };

/// A run of a schedule. Collective over the mesh axes of its plan: members of a group begin and advance their runs in
/// the same order.
template <class Exec, class T>
class running {
 public:
  /// result <- alpha (the plan's value for the operands) + beta result, on dense blocks. They must stay valid until the
  /// end, like everything passed by reference. The result overlaps no operand. With nonblocking calls of MPI, the run
  /// waits only in `finish`; blocking calls are fastest if no other run advances meanwhile. @pre alpha = 1 and beta = 0
  /// unless the plan sums
  running(Exec const& exec, execution_context const& w, planner::plan_view const& plan, known_schedule& known,
          T const* const* operands, T* result, update<T> const& how, run_functions<Exec, T> const& functions,
          profiled_as how_profiled = profiled_as::operation, communicator const* all_members = nullptr,
          mpi_calls calls = mpi_calls::blocking)
      : exec_(exec),
        w_(w),
        plan_(plan),
        known_(known),
        how_(how),
        functions_(functions),
        all_members_(all_members),
        calls_(calls),
        workspace_(known.schedule.workspace),
        profiles_(how_profiled != profiled_as::nothing && is_profiled(w)),
        in_operation_(profiles_ && how_profiled == profiled_as::operation) {
    for (int k = 0; k < plan.operands.size(); ++k) buffers_[k] = const_cast<T*>(operands[k]);  // not written
    buffers_[planner::result_buffer] = result;
    if (in_operation_) push_operation(false);
  }
  running(running const&) = delete;
  running& operator=(running const&) = delete;
  ~running() {
    if (in_step_) pop_region();
    if (in_operation_) pop_region();
  }

  /// Runs until a message has been finished. True if there is more to do.
  bool advance() { return advance_to(planner::verb::finish); }

  /// Runs until a message has been started, at most. True if there is more to do.
  bool advance_to_message() { return advance_to(planner::verb::start); }

  /// Lets the message in flight progress, without waiting. True if it has arrived.
  bool test() { return in_flight_ == nullptr || (this->*in_flight_->test)(); }

  /// Ends the run's regions until resume(), so that other runs may begin and end regions.
  void pause() {
    if (in_step_) pop_region();
    if (in_operation_) pop_region();
  }
  void resume() {
    if (in_operation_) push_operation(true);
    if (in_step_) push_stage();
  }

  void run_to_end() {
    while (advance()) {
    }
    if (profiles_) enter_stage(static_cast<int>(known_.schedule.stages.size()) - 1);
    fence_on_host(exec_, arrays_);
  }

  // --- the verbs ----------------------------------------------------------------------------------------------------

  void before_action(planner::schedule const& s, std::size_t i) {
    if (profiles_) enter_stage(s.actions[i].stage);
  }
  void after_action(planner::schedule const&, std::size_t) { progress(); }

  void copy(planner::buffer_block const& to, planner::buffer_block const& from, planner::scaling how) {
    copied_bytes += to.where.size() * static_cast<std::int64_t>(sizeof(T));
    if (has_listeners()) report_writes(to, 2, int{sizeof(T)});
    engine::copy(exec_, at(to.data), shape_of(to), static_cast<T const*>(at(from.data)), shape_of(from),
                 update_of(how));
  }

  void fill(planner::buffer_block const& to, planner::factor beta, reduction kind) {
    if (has_listeners()) report_writes(to, 1, int{sizeof(T)});
    if (beta == planner::factor::zero)
      engine::fill(exec_, at(to.data), shape_of(to), identity<T>(kind));
    else
      scale(exec_, at(to.data), shape_of(to), update_of({planner::factor::one, beta}).beta);
  }

  // Reports each copy and fill to listeners without doing it.
  void price(planner::schedule const& s, planner::action const& a) {
    if (has_listeners()) report_all_writes(s, a, int{sizeof(T)});
  }

  void multiply(planner::product const& p, planner::scaling how) {
    if (counts_flops()) count_flops(p.loops, true, int{sizeof(T)});
    if (functions_.contract == nullptr) planner::lacks_function();
    functions_.contract(exec_, p.loops, at(p.begin[0]), at(p.begin[1]), at(p.begin[2]), update_of(how), plan_of(p),
                        functions_.products);
  }

  void reduce(planner::product const& p, reduction kind, planner::scaling how) {
    if (functions_.reduce == nullptr) planner::lacks_function();
    (this->*functions_.reduce)(p, kind, how);
  }

  [[gnu::cold]] void start(planner::schedule const& s, planner::scheduled_message const& m) {
    fence_before_messages(exec_);
    communicator const& members = all_members_ != nullptr ? *all_members_ : w_.group(m.axes);
    message_functions<Exec, T> const& functions = planner::of_kind(functions_, m.kind);
    if (functions.start == nullptr) planner::lacks_function();
    (this->*functions.start)(s, m, members);
    in_flight_ = &functions;
    if (m.kind == step::ring_contraction) own_message_.begin();
  }

  [[gnu::cold]] void finish(planner::schedule const&, planner::scheduled_message const&) {
    (this->*in_flight_->finish)();
    own_message_.end();
    in_flight_ = nullptr;
    message_.clear();
    reserved_ = reserve_for_flight();
  }

  /// Returns the functions of these kinds.
  template <unsigned Kinds>
  static constexpr run_functions<Exec, T> functions_of() {
    namespace kinds = planner::kinds;
    run_functions<Exec, T> f;
    if constexpr ((Kinds & kinds::gathers) != 0) f.gather = functions_for<gather_message, &running::start_gather>;
    if constexpr ((Kinds & kinds::reduces_all) != 0)
      f.all_reduce = functions_for<all_reduce_message, &running::start_all_reduce>;
    if constexpr ((Kinds & kinds::scatters) != 0) f.scatter = functions_for<scatter_message, &running::start_scatter>;
    if constexpr ((Kinds & (kinds::exchanges | kinds::rings)) != 0)
      f.exchange = functions_for<exchange_message, &running::start_exchange>;
    if constexpr ((Kinds & kinds::folds) != 0) f.reduce = constant<&running::fold>;
    if constexpr ((Kinds & kinds::products) != 0 && !std::is_same_v<T, bool>)  // bools are not multiplied
      f.contract = constant<&contract_in_tiles<Exec, T>>;
    constexpr product_labels of_products{(Kinds & kinds::batches) != 0, (Kinds & kinds::unshared_labels) != 0,
                                         (Kinds & kinds::unsummed) != 0, (Kinds & kinds::shared_blocks) != 0};
    f.products = product_kernels_of<of_products, Exec, T>();
    f.lowering = &planner::lowering_functions_of<(Kinds & kinds::lowered), planner::schedule>;
    return f;
  }

 private:
  using arrays = arrays_of<Exec>;
  using gather_message = levelled_all_gather<T, arrays>;
  using all_reduce_message = levelled_all_reduce<T, arrays>;
  using scatter_message = levelled_reduce_scatter<T, arrays>;
  using exchange_message = exchange_in_flight<T, arrays>;

  bool advance_to(planner::verb until) { return planner::advance(known_.schedule, next_, *this, until); }

  template <class Message>
  Message& make() {
    Message& made = message_.template make<Message>();
    made.on(arrays_);
    return made;
  }
  template <class Message>
  [[gnu::cold]] bool test_message() {
    return message_.template as<Message>().test();
  }
  template <class Message>
  [[gnu::cold]] void finish_message() {
    message_.template as<Message>().finish();
  }

  // These are constants and not constexpr functions, which nvcc with -expt-relaxed-constexpr would also compile for the
  // device, where the functions whose addresses they take do not exist.
  template <class Message, auto Start>
  static constexpr message_functions<Exec, T> functions_for{Start, &running::template test_message<Message>,
                                                            &running::template finish_message<Message>};
  template <auto Function>
  static constexpr auto constant = Function;

  void fold(planner::product const& p, reduction kind, planner::scaling how) {
    if (counts_flops()) count_flops(p.loops, false, int{sizeof(T)});
    engine::reduce(exec_, p.loops, static_cast<T const*>(at(p.begin[0])), at(p.begin[2]), kind, update_of(how));
  }

  [[gnu::cold]] void start_gather(planner::schedule const& s, planner::scheduled_message const& m,
                                  communicator const& members) {
    gather_message& gather = make<gather_message>();
    T const* const sent = at(m.sent);
    if (m.own_left_out) return gather.begin_of_others(members, sent, at(m.received), m.own);
    gather.begin(members, sent, at(m.received), count_parts(s, m), calls_);
  }

  [[gnu::cold]] void start_all_reduce(planner::schedule const&, planner::scheduled_message const& m,
                                      communicator const& members) {
    all_reduce_message& all_reduce = make<all_reduce_message>();
    T* const data = at(m.received);
    if (runs_on_host<Exec> && calls_ == mpi_calls::blocking)
      return all_reduce.begin(members, data, m.own, m.how, at(m.share), at(m.pieces));
    bool const nothing =
        all_reduce.has_levels(members, m.own) || all_reduce_in_flight<T, arrays>::by_carrier(m.how, m.own, calls_);
    std::int64_t const share = nothing ? 0 : share_of_all_reduce(members, m.own);
    std::int64_t const pieces = share == 0 ? 0 : one_level::pieces_of(members, share, share, calls_);
    reserved_ = reserve_for_flight(share + pieces);
    all_reduce.begin(members, data, m.own, m.how, reserved_.data(), reserved_.data() + share, calls_);
  }

  [[gnu::cold]] void start_scatter(planner::schedule const& s, planner::scheduled_message const& m,
                                   communicator const& members) {
    scatter_message& scatter = make<scatter_message>();
    counts_view const& counts = count_parts(s, m);
    update<T> const into = update_of(m.into);
    parts_sent const parts = m.own_left_out ? parts_sent::all_but_own : parts_sent::all;
    T* pieces = at(m.pieces);
    if (!runs_on_host<Exec> || calls_ == mpi_calls::nonblocking) {
      bool const nothing =
          one_level::arrives_in_place(members, parts, into) || scatter.has_levels(members, counts.total());
      reserved_ = reserve_for_flight(nothing ? 0 : one_level::pieces_of(members, m.own, counts.largest(), calls_));
      pieces = reserved_.data();
    }
    scatter.begin(members, at(m.sent), at(m.received), counts, pieces, m.how, into, parts, calls_);
  }

  [[gnu::cold]] void start_exchange(planner::schedule const& s, planner::scheduled_message const& m,
                                    communicator const& members) {
    exchange_message& exchange = make<exchange_message>();
    if (s.priced_only)
      return exchange.price(members, s.sent.data() + m.first_sent, m.sent_runs, m.strided + m.long_rows);
    parts_.clear();
    layouts_.clear();
    layouts_.reserve(static_cast<std::size_t>(2 * m.parts));  // parts point to the layouts
    for (int d = 0; d < members.size(); ++d) parts_.push_back({nullptr, 0, nullptr, 0});
    for (int k = 0; k < m.parts; ++k) {
      planner::message_part const& p = s.parts[static_cast<std::size_t>(m.first_part + k)];
      exchanged<T>& part = parts_.data()[p.member];
      part.sent = p.sent.where.size();
      part.received = p.received.where.size();
      part.send = at(p.sent.data);
      part.receive = at(p.received.data);
      if (part.sent > 0 && !p.sent.gapless()) part.block_sent = &layouts_.push_back(layout_of(p.sent));
      if (part.received > 0 && !p.received.gapless()) part.block_received = &layouts_.push_back(layout_of(p.received));
    }
    exchange.begin(members, parts_.data());
    exchange.add_rows(m.long_rows);
  }

  // Returns the number of elements of each member's part.
  counts_view const& count_parts(planner::schedule const& s, planner::scheduled_message const& m) const {
    return known_.part_counts[static_cast<std::size_t>(&m - s.messages.data())];
  }

  [[nodiscard]] T* at(planner::place p) const {
    if (p.buffer < planner::first_own_buffer) return buffers_[p.buffer] + p.at;
    return workspace_.data() + known_.schedule.in_workspace(p);
  }

  [[nodiscard]] update<T> update_of(planner::scaling how) const { return engine::update_of(how, how_); }

  [[nodiscard]] strided const& shape_of(planner::buffer_block const& r) const {
    return known_.shapes[static_cast<std::size_t>(&r - known_.schedule.blocks.data())];
  }
  [[nodiscard]] plan_ticket& plan_of(planner::product const& p) const {
    return known_.product_plans[static_cast<std::size_t>(&p - known_.schedule.products.data())];
  }

  [[gnu::cold, gnu::noinline]] void push_operation(bool resumed) const {
    void const* blocks[planner::max_operands + 1];
    for (int k = 0; k < plan_.operands.size(); ++k) blocks[k] = buffers_[k];
    blocks[plan_.operands.size()] = buffers_[planner::result_buffer];
    push_run(w_, plan_, static_cast<int>(sizeof(T)), resumed, blocks);
  }

  // Begins the region of each step, also of a step without actions, but not of work that pads a diagonal or copies a
  // view into the result.
  [[gnu::cold, gnu::noinline]] void enter_stage(int stage) {
    while (stage_ < stage) {
      if (in_step_) pop_region();
      int const step = known_.schedule.stages[static_cast<std::size_t>(++stage_)].step;
      in_step_ = step >= 0 && step < plan_.steps.size();
      if (in_step_) push_stage();
    }
  }
  [[gnu::cold, gnu::noinline]] void push_stage() const {
    push_step(w_, plan_, known_.schedule.stages[static_cast<std::size_t>(stage_)].step, static_cast<int>(sizeof(T)));
  }

  Exec const& exec_;
  execution_context const& w_;
  planner::plan_view const& plan_;
  known_schedule& known_;
  update<T> how_;
  run_functions<Exec, T> const& functions_;
  communicator const* all_members_;  // for a message whose group belongs to no single mesh
  mpi_calls calls_;
  T* buffers_[planner::first_own_buffer]{};
  scratch<T, typename Exec::memory_space> workspace_;
  std::size_t next_ = 0;
  bool profiles_;
  bool in_operation_;
  int stage_ = -1;
  bool in_step_ = false;

  // The message of a ring. It progresses between the tiles of the products beside it.
  class own_message final : public in_flight {
   public:
    explicit own_message(running& run) : run_(run) {}
    void begin() { enlist(); }
    void end() { leave(); }
    void poll() noexcept override { run_.test(); }

   private:
    running& run_;
  };

  using one_level = reduce_scatter_in_flight<T, arrays>;

  // The buffers of a reduction in flight, or in a GPU's memory, beside the plan's workspace, since its pieces are
  // longer.
  using reserve_for_flight = kernel_scratch<T, typename arrays::memory_space>;
  reserve_for_flight reserved_;

  // The message in flight, and its parts.
  message_functions<Exec, T> const* in_flight_ = nullptr;
  [[no_unique_address]] arrays arrays_{exec_};
  detail::message_storage<gather_message, all_reduce_message, scatter_message, exchange_message> message_;
  short_array<exchanged<T>> parts_;
  short_array<strided, 1> layouts_;
  own_message own_message_{*this};
};

}  // namespace ostraka::engine
