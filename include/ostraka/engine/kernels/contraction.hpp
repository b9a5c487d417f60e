// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The local contraction: C <- alpha A B + beta C summed over the labels that C lacks, on strided blocks of
/// one memory space. A[B, I, J] B[B, J, K] -> C[B, I, K] is a batch of matrix products; the library computes it if it
/// can, otherwise our kernels do.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/blas/device_products.hpp>
#include <ostraka/engine/kernels/blas/library.hpp>
#include <ostraka/engine/kernels/blas/library_product.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_portable.hpp>
#include <ostraka/engine/kernels/portable/product_kernels.hpp>
#include <ostraka/engine/kernels/products/bfloat16_products.hpp>
#include <ostraka/engine/kernels/products/contraction_cache.hpp>
#include <ostraka/engine/kernels/products/contraction_plan.hpp>
#include <ostraka/engine/kernels/products/fold_widened.hpp>
#include <ostraka/engine/kernels/products/widened.hpp>
#include <ostraka/engine/kernels/reduce.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

namespace detail {

/// Sums an operand over the labels that it alone has, which turns I·J·K multiplications into I·K. The sum, stored in
/// `buffer`, replaces the operand.
template <class Exec, class T>
[[gnu::cold]] void sum_unshared_labels(Exec const& exec, contraction& p, operand which, T const*& data,
                                       kernel_scratch<T, typename Exec::memory_space>& buffer) {
  label_class const unshared = which == operand::a ? label_class::only_a : label_class::only_b;
  bool* const present = presence_of(p, which);
  std::int64_t* const stride = strides_of(p, which);
  contraction sum;
  sum.labels = p.labels;
  bool any = false;
  for (int l = 0; l < p.labels; ++l) {
    bool const summed = class_of(p, l) == unshared;
    any = any || (summed && p.extent[l] != 1);
    sum.extent[l] = p.extent[l];
    sum.in_a[l] = present[l];
    sum.in_c[l] = present[l] && !summed;
    sum.a[l] = sum.c[l] = stride[l];
  }
  for (int l = 0; l < p.labels; ++l)
    if (class_of(p, l) == unshared) present[l] = false, p.extent[l] = 1;  // the class of no other label changes
  if (!any) return;
  buffer = kernel_scratch<T, typename Exec::memory_space>(close_gaps(sum, operand::c));
  reduce(exec, sum, data, buffer.data(), reduction::sum);
  data = buffer.data();
  for (int l = 0; l < p.labels; ++l)
    if (present[l]) stride[l] = sum.c[l];
}

/// True if an operand has a label that neither the other nor the result has.
inline bool has_unshared_labels(contraction const& p) {
  for (int l = 0; l < p.labels; ++l)
    if (!p.in_c[l] && p.in_a[l] != p.in_b[l]) return true;
  return false;
}

/// Computes the product by the library, if its plan uses the library.
template <class Exec, class T>
bool contract_by_library([[maybe_unused]] Exec const& exec, [[maybe_unused]] contraction const& p,
                         [[maybe_unused]] T const* a, [[maybe_unused]] T const* b, [[maybe_unused]] T* c,
                         [[maybe_unused]] update<T> const& how, [[maybe_unused]] plan_ticket& ticket,
                         [[maybe_unused]] arranged_product const*& known) {
  if constexpr (!runs_on_host<Exec> && library_of<Exec>::template multiplies<T>) {
    return contract_on_device<library_of<Exec>>(exec, p, a, b, c, how, ticket);
  } else if constexpr (library_of<Exec>::template multiplies<T>) {
    contraction_plan const* const plan = plan_cache<T>::instance().find(p, ticket);
    if (!plan || !plan->library) {
      known = plan ? &plan->ours : nullptr;
      return false;
    }
    follow_plan<library_of<Exec>>(exec, p, *plan, a, b, c, how);
    return true;
  }
  return false;
}

/// Computes the product after the sums over unshared labels. @pre the kernels are those that its labels need
template <class Exec, class T>
[[gnu::cold, gnu::noinline]] void contract_sums(Exec const& exec, contraction p, T const* a, T const* b, T* c,
                                                update<T> const& how, product_kernels<Exec, T> const& kernels) {
  if (kernels.sum_unshared == nullptr)
    throw_error("internal error: a product has a label that its plan does not name; please report the operation");
  kernel_scratch<T, typename Exec::memory_space> sum_of_a, sum_of_b;
  kernels.sum_unshared(exec, p, operand::a, a, sum_of_a);
  kernels.sum_unshared(exec, p, operand::b, b, sum_of_b);
  plan_ticket ticket;
  arranged_product const* known = nullptr;
  if (!contract_by_library(exec, p, a, b, c, how, ticket, known))
    contract_portable(exec, p, a, b, c, how, kernels, known);
}

/// True if the operations that the calling thread has in flight progress during the contraction on the host. They
/// progress during our own tiles, but not while a library computes.
template <class T, class Exec>
bool progresses_meanwhile([[maybe_unused]] Exec const& exec, [[maybe_unused]] contraction const& p,
                          [[maybe_unused]] plan_ticket& ticket) {
  if constexpr (!runs_on_host<Exec> || !std::is_same_v<product_type<T>, T>) {
    return false;
  } else {
    if (!is_product(p)) return false;
    if constexpr (library_of<Exec>::template multiplies<T>)
      if (plan_cache<T>::instance().find(p, ticket)->library) return false;
    return progresses_in_tiles<T>(exec, p);
  }
}

}  // namespace detail

/// Returns the kernels for labels of these classes.
template <product_labels Of, class Exec, class T>
constexpr product_kernels<Exec, T> product_kernels_of() {
  product_kernels<Exec, T> k;
  if constexpr (!std::is_same_v<T, bool> && std::is_same_v<detail::product_type<T>, T>) {
    if constexpr (Of.batches && runs_on_host<Exec>) k.batch = &detail::run_batch_vectorised<Exec, T>;
    if constexpr (Of.unshared) k.sum_unshared = &detail::sum_unshared_labels<Exec, T>;
    if constexpr (Of.unsummed) k.unsummed = &detail::multiply_elements<Exec, T>;
    if constexpr (Of.shared && runs_on_host<Exec>) {
      k.shared = &detail::shared_block_folds_of<T>;
      k.fold_parts = &detail::fold_parts<Exec, T>;
    }
  }
  return k;
}

template <class Exec, class T>
product_kernels<Exec, T> const& every_product_kernel() {
  static constexpr product_kernels<Exec, T> every =
      product_kernels_of<product_labels{true, true, true, true}, Exec, T>();
  return every;
}

/// c <- alpha · (sum over the labels that c lacks of a · b) + beta · c. The sum is zero if a summed label has extent 0;
/// labels that only c has repeat the result. c overlaps neither a nor b, and beta needs no extra memory. The ticket
/// belongs to this problem. @pre the kernels are those that its labels need
template <class Exec, class T>
void contract(Exec const& exec, contraction const& problem, T const* a, T const* b, T* c, update<T> const& how,
              plan_ticket& ticket, product_kernels<Exec, T> const& kernels = every_product_kernel<Exec, T>()) {
  detail::arranged_product const* known = nullptr;
  if (how.alpha != decltype(how.alpha)(0) && detail::contract_by_library(exec, problem, a, b, c, how, ticket, known))
    return;
  if constexpr (std::is_same_v<detail::product_type<T>, T>)  // it then has no extent 0 and no unshared label
    if (known != nullptr) return detail::contract_portable(exec, problem, a, b, c, how, kernels, known);

  bool nothing_to_write = false;
  bool nothing_to_sum = how.alpha == accumulator_of_t<T>(0);
  for (int l = 0; l < problem.labels; ++l)
    if (problem.extent[l] == 0) (problem.in_c[l] ? nothing_to_write : nothing_to_sum) = true;
  if (nothing_to_write) return;
  if (nothing_to_sum) {
    scale(exec, c, block_of(problem, operand::c), how.beta);
    return;
  }

  using wider = detail::product_type<T>;
  if constexpr (!std::is_same_v<wider, T>) {  // sums of 16-bit elements are floats, even without a library for them
    plan_ticket of_wider;  // the given one may belong to a plan for 16 bits
    bool is_of_narrow = library_of<Exec>::template multiplies<T>;
    if constexpr (runs_on_host<Exec>) {
      if constexpr (is_narrow<T>)
        if (detail::is_widened_fold(problem)) return detail::fold_widened(exec, problem, a, b, c, how);
      if constexpr (std::is_same_v<T, bfloat16>)
        if (detail::may_multiply_bfloat16(problem, how)) {
          if (detail::contract_bfloat16(exec, problem, a, b, c, ticket)) return;
          is_of_narrow = true;
        }
    }
    plan_ticket& of_wide = is_of_narrow ? of_wider : ticket;
    detail::widened(exec, problem, a, b, c, how,
                    [&](contraction const& wide, wider const* wide_a, wider const* wide_b, wider* wide_c) {
                      contract(exec, wide, wide_a, wide_b, wide_c, {}, of_wide);
                    });
  } else {
    if (detail::has_unshared_labels(problem)) return detail::contract_sums(exec, problem, a, b, c, how, kernels);
    detail::contract_portable(exec, problem, a, b, c, how, kernels, known);
  }
}

/// The same for callers that compute the product once.
template <class Exec, class T>
void contract(Exec const& exec, contraction const& problem, T const* a, T const* b, T* c, update<T> const& how = {}) {
  plan_ticket ticket;
  contract(exec, problem, a, b, c, how, ticket);
}

}  // namespace ostraka::engine
