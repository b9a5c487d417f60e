// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Kernels of the sham device: a launch copies the functor into the queue. When it runs, the last index comes first,
/// because Kokkos guarantees no order.

#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "device.hpp"

namespace Kokkos::Impl {

/// Launches a functor, after a look for addresses of the host in it; Kokkos' own functors may hold such addresses.
template <class F, class Work>
void sham_launch(F const& f, Work&& work) {
  sham::driver const active;
  char const* const name = typeid(F).name();
  if (std::string_view(name).find("6Kokkos4Impl") == std::string_view::npos) sham::look_into(f, name);
  sham::launch(name, std::forward<Work>(work));
}

template <class Policy, class F, class... Update>
void sham_loop(Policy const& p, F const& f, Update&... update) {
  for (auto i = p.end(); i > p.begin();) {
    --i;
    if constexpr (std::is_void_v<typename Policy::work_tag>)
      f(i, update...);
    else
      f(typename Policy::work_tag(), i, update...);
  }
}

template <class F, class... Traits>
class ParallelFor<F, RangePolicy<Traits...>, Sham> {
  F const f_;
  RangePolicy<Traits...> const p_;

 public:
  ParallelFor(F const& f, RangePolicy<Traits...> const& p) : f_(f), p_(p) {}
  void execute() const {
    sham_launch(f_, [f = f_, p = p_] { sham_loop(p, f); });
  }
};

template <class F, class... Traits>
class ParallelFor<F, MDRangePolicy<Traits...>, Sham> {
  using policy = MDRangePolicy<Traits...>;
  F const f_;
  policy const p_;

 public:
  ParallelFor(F const& f, policy const& p) : f_(f), p_(p) {}
  template <class P, class G>
  static int max_tile_size_product(P const&, G const&) {
    return 1024;
  }
  void execute() const {
    sham_launch(f_, [f = f_, p = p_] {
      HostIterateTile<policy, F, typename policy::work_tag, void> const tile(p, f);
      for (auto i = static_cast<typename policy::index_type>(p.m_num_tiles); i > 0;) tile(--i);
    });
  }
};

template <class F, class... Traits, class Reducer>
class ParallelReduce<F, RangePolicy<Traits...>, Reducer, Sham> {
  using policy = RangePolicy<Traits...>;
  using selected = if_c<std::is_same_v<InvalidType, Reducer>, F, Reducer>;
  using tag = std::conditional_t<std::is_same_v<InvalidType, Reducer>, typename policy::work_tag, void>;
  using pointer = typename FunctorAnalysis<FunctorPatternInterface::REDUCE, policy, F>::pointer_type;
  F const f_;
  policy const p_;
  Reducer const r_;
  pointer const result_;
  bool const waits_;  // true if the result is in host memory

 public:
  template <class View>
  ParallelReduce(F const& f, policy const& p, View const& v,
                 std::enable_if_t<is_view<View>::value && !is_reducer_type<Reducer>::value, void*> = nullptr)
      : f_(f),
        p_(p),
        r_(InvalidType()),
        result_(v.data()),
        waits_(std::is_same_v<typename View::memory_space, HostSpace>) {}
  ParallelReduce(F const& f, policy const& p, Reducer const& r)
      : f_(f),
        p_(p),
        r_(r),
        result_(r.view().data()),
        waits_(std::is_same_v<typename Reducer::result_view_type::memory_space, HostSpace>) {}
  void execute() const {
    sham_launch(f_, [f = f_, p = p_, r = r_, result = result_] {
      auto&& update = FunctorValueInit<typename selected::type, tag>::init(selected::select(f, r), result);
      sham_loop(p, f, update);
      FunctorFinal<typename selected::type, tag>::final(selected::select(f, r), result);
    });
    if (waits_) sham::fence_by_host("a reduction to the host");
  }
};

/// A thread of a team.
class ShamTeamMember {
 public:
  using execution_space = Sham;
  using scratch_memory_space = ScratchMemorySpace<Sham>;
  using thread_team_member = ShamTeamMember;

  explicit ShamTeamMember(int rank)
      : rank_(rank), scratch_(sham::this_team().scratch.data(), static_cast<int>(sham::this_team().scratch.size())) {}
  [[nodiscard]] int league_rank() const { return sham::this_team().number; }
  [[nodiscard]] int team_rank() const { return rank_; }
  [[nodiscard]] int team_size() const { return sham::this_team().threads; }
  void team_barrier() const { sham::team_barrier(); }
  [[nodiscard]] scratch_memory_space const& team_scratch(int) const { return scratch_.set_team_thread_mode(0, 1, 0); }

 private:
  int rank_;
  scratch_memory_space scratch_;
};

template <class... Properties>
class TeamPolicyInternal<Sham, Properties...> : public PolicyTraits<Properties...> {
 public:
  using execution_policy = TeamPolicyInternal;
  using traits = PolicyTraits<Properties...>;
  using execution_space = Sham;
  using member_type = ShamTeamMember;
  template <class, class...>
  friend class TeamPolicyInternal;

  template <class... Other>
  TeamPolicyInternal(TeamPolicyInternal<Sham, Other...> const& p)
      : teams_(p.teams_), threads_(p.threads_), scratch_(p.scratch_) {}
  TeamPolicyInternal(Sham const&, int teams, int threads, int = 1) : teams_(teams), threads_(threads) {}
  TeamPolicyInternal(int teams, int threads, int = 1) : teams_(teams), threads_(threads) {}
  [[nodiscard]] Sham const& space() const {
    static Sham const s;
    return s;
  }
  [[nodiscard]] int league_size() const { return teams_; }
  [[nodiscard]] int team_size() const { return threads_; }
  [[nodiscard]] bool impl_auto_team_size() const { return false; }
  [[nodiscard]] bool impl_auto_vector_length() const { return false; }
  void impl_set_team_size(std::size_t) {}
  void impl_set_vector_length(std::size_t) {}
  [[nodiscard]] int impl_vector_length() const { return 1; }
  [[nodiscard]] int chunk_size() const { return 1; }
  TeamPolicyInternal& set_chunk_size(int) { return *this; }
  [[nodiscard]] std::size_t scratch_size(int, int = 0) const { return scratch_; }
  TeamPolicyInternal& set_scratch_size(int, PerTeamValue const& v) {
    scratch_ = static_cast<std::size_t>(v.value);
    return *this;
  }

 private:
  int teams_, threads_;
  std::size_t scratch_ = 0;
};

template <class F, class... Properties>
class ParallelFor<F, TeamPolicy<Properties...>, Sham> {
  F const f_;
  TeamPolicy<Properties...> const p_;

 public:
  ParallelFor(F const& f, TeamPolicy<Properties...> const& p) : f_(f), p_(p) {}
  void execute() const {
    sham_launch(f_, [f = f_, p = p_] {
      sham::run_teams(p.league_size(), p.team_size(), p.scratch_size(0), [&f](int rank) { f(ShamTeamMember(rank)); });
    });
  }
};

}  // namespace Kokkos::Impl
