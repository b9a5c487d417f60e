// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan as a program stores it for an operation that runs: some 70 bytes, unpacked in the operation's first
/// run. Each spec is stored once, and steps refer to specs by number. All numbers are written in groups of seven bits,
/// so that small ones take one byte.

#include <bit>
#include <cstdint>

#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::planner {

/// The bytes of a packed plan.
template <int Count>
struct packed_plan {
  unsigned char bytes[Count];
};

/// An unpacked plan. It is empty at first.
struct unpacked_plan {
  plan_view view{};                ///< a view of the members below
  dynamic_array<spec> operands{};  ///< the operands, and the result after them
  dynamic_array<std::int64_t> sizes{};
  dynamic_array<planned_step> steps{};

  [[nodiscard]] bool empty() const { return view.result == nullptr; }
};

namespace detail {

// The distinct specs of a plan.
template <int Most>
struct distinct_specs {
  int count = 0;
  spec const* item[Most]{};

  constexpr std::uint64_t number_of(spec const& s) {
    int n = 0;
    while (n < count && !(*item[n] == s && item[n]->kind == s.kind)) ++n;
    if (n == count) item[count++] = &s;
    return static_cast<std::uint64_t>(n);
  }
};

template <int Most>
struct packing {
  int count = 0;
  unsigned char bytes[Most]{};

  constexpr void put(std::uint64_t n) {
    for (; n > 127; n >>= 7) bytes[count++] = static_cast<unsigned char>((n & 127) | 128);
    bytes[count++] = static_cast<unsigned char>(n);
  }
  constexpr void put(int n) { put(static_cast<std::uint64_t>(n)); }  // at least 0
  constexpr void put(spec const& s) {
    put(s.rank);
    for (int i = 0; i < s.rank; ++i) {
      put(int{s.label[i]});
      put(std::uint64_t{s.over[i].code});
    }
    put(std::uint64_t{s.partial.bits});
    put(static_cast<int>(s.kind));
  }
};

class unpacking {
 public:
  explicit unpacking(unsigned char const* bytes) : next_(bytes) {}

  [[gnu::noinline]] std::uint64_t get() {
    std::uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      n |= std::uint64_t{*next_ & 127u} << shift;
      if (*next_++ < 128) return n;
    }
  }
  int get_int() { return static_cast<int>(get()); }
  void get(spec& s) {
    for (int rank = get_int(); rank > 0; --rank) {
      int const label = get_int();
      s.push_back(label, {static_cast<std::uint32_t>(get())});
    }
    s.partial.bits = static_cast<std::uint32_t>(get());
    s.kind = static_cast<reduction>(get());
  }

 private:
  unsigned char const* next_;
};

// The most specs of a plan, and the most bytes.
constexpr int most_specs(einsum_plan const& plan) { return plan.operands.size() + 1 + 2 * plan.steps.size(); }
constexpr int most_bytes(einsum_plan const& plan) {
  constexpr int of_number = 10;
  constexpr int of_spec = 8 + 6 * max_rank;
  return (10 + plan.operands.size() + plan.sizes.labels + plan.sizes.mesh_axes + 7 * plan.steps.size()) * of_number +
         most_specs(plan) * of_spec;
}

template <int MostSpecs, int MostBytes>
constexpr packing<MostBytes> pack(einsum_plan const& plan) {
  packing<MostBytes> to;
  distinct_specs<MostSpecs> specs;
  for (spec const& s : plan.operands) specs.number_of(s);
  specs.number_of(plan.result);
  for (planned_step const& s : plan.steps) specs.number_of(s.from), specs.number_of(s.to);
  to.put(specs.count);
  for (int n = 0; n < specs.count; ++n) to.put(*specs.item[n]);
  to.put(plan.operands.size());
  for (spec const& s : plan.operands) to.put(specs.number_of(s));
  to.put(specs.number_of(plan.result));
  to.put(plan.sizes.labels);
  for (int l = 0; l < plan.sizes.labels; ++l) to.put(static_cast<std::uint64_t>(plan.sizes.label[l]));
  to.put(plan.sizes.mesh_axes);
  for (int m = 0; m < plan.sizes.mesh_axes; ++m) to.put(static_cast<std::uint64_t>(plan.sizes.mesh[m]));
  to.put(static_cast<int>(plan.how));
  to.put(std::bit_cast<std::uint64_t>(plan.element_weight));
  to.put(plan.directions);
  to.put(plan.steps.size());
  for (planned_step const& s : plan.steps) {
    to.put(static_cast<int>(s.kind));
    to.put(s.operand - no_tensor);  // no_tensor is the least of these numbers
    to.put(std::uint64_t{s.axes.bits});
    to.put(specs.number_of(s.from));
    to.put(specs.number_of(s.to));
    to.put(s.left - no_tensor);
    to.put(s.right - no_tensor);
  }
  return to;
}

template <int Count, int Most>
consteval packed_plan<Count> first_bytes(packing<Most> const& all) {
  packed_plan<Count> some{};
  for (int i = 0; i < Count; ++i) some.bytes[i] = all.bytes[i];
  return some;
}

}  // namespace detail

/// Unpacks a plan. A template so that ostraka::compiled can hold it.
template <class = void>
[[gnu::cold]] void unpack(unsigned char const* bytes, unpacked_plan& plan) {
  detail::unpacking from(bytes);
  plan.operands.clear();  // an earlier call may have run out of memory
  plan.sizes.clear();
  plan.steps.clear();
  dynamic_array<spec> specs(static_cast<std::size_t>(from.get()));
  for (spec& s : specs) from.get(s);
  auto const next_spec = [&]() -> spec const& { return specs[static_cast<std::size_t>(from.get())]; };
  int const operands = from.get_int();
  for (int k = 0; k <= operands; ++k) plan.operands.push_back(next_spec());
  int const labels = from.get_int();
  for (int l = 0; l < labels; ++l) plan.sizes.push_back(static_cast<std::int64_t>(from.get()));
  int const mesh_axes = from.get_int();
  for (int m = 0; m < mesh_axes; ++m) plan.sizes.push_back(static_cast<std::int64_t>(from.get()));
  plan.view.how = static_cast<reduction>(from.get());
  plan.view.element_weight = std::bit_cast<double>(from.get());
  plan.view.directions = from.get_int();
  int const steps = from.get_int();
  for (int i = 0; i < steps; ++i) {
    planned_step s;
    s.kind = static_cast<step>(from.get());
    s.operand = from.get_int() + no_tensor;
    s.axes.bits = static_cast<std::uint32_t>(from.get());
    s.from = next_spec();
    s.to = next_spec();
    s.left = from.get_int() + no_tensor;
    s.right = from.get_int() + no_tensor;
    plan.steps.push_back(s);
  }
  plan.view.operands = {plan.operands.data(), operands};
  plan.view.label_sizes = {plan.sizes.data(), labels};
  plan.view.mesh_sizes = {plan.sizes.data() + labels, mesh_axes};
  plan.view.steps = {plan.steps.data(), steps};
  plan.view.result = plan.operands.data() + operands;
}

}  // namespace ostraka::planner

namespace ostraka::detail {

template <class Types>
struct packed_types {
  static constexpr auto packing =
      planner::detail::pack<planner::detail::most_specs(Types::plan), planner::detail::most_bytes(Types::plan)>(
          Types::plan);
};

/// `Types::plan`, packed.
template <class Types>
inline constexpr auto packed_plan_of =
    planner::detail::first_bytes<packed_types<Types>::packing.count>(packed_types<Types>::packing);

}  // namespace ostraka::detail
