// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of bfloat16 by oneDNN, version 2 or 3, which programs link by ostraka::onednn. oneDNN generates
/// code for each shape, so a host thread remembers the products that it used last. The engine uses the C interface,
/// which takes little time to compile.

#ifndef OSTRAKA_ENABLE_ONEDNN
#  define OSTRAKA_ENABLE_ONEDNN 0
#endif

#if OSTRAKA_ENABLE_ONEDNN

#  include <oneapi/dnnl/dnnl.h>

#  include <cstddef>
#  include <cstdint>
#  include <string>
#  include <string_view>

#  include <ostraka/engine/kernels/blas/bfloat16_library.hpp>
#  include <ostraka/engine/kernels/blas/column_major.hpp>
#  include <ostraka/engine/memory/per_thread.hpp>
#  include <ostraka/types/support/error.hpp>
#  include <ostraka/types/support/join_text.hpp>
#  include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine {
namespace detail {

/// The layout of a batch of matrices, by rows unless transposed.
class onednn_layout {
 public:
  onednn_layout(column_major_call::matrix const& x, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    bool const repeated = x.step == 0;
    dnnl_dims_t const extent = {repeated ? 1 : batch, rows, columns};
    dnnl_dims_t const step = {repeated ? x.leading * (x.transposed ? columns : rows) : x.step,
                              x.transposed ? 1 : x.leading, x.transposed ? x.leading : 1};
    int const rank = batch == 1 ? 2 : 3;
    std::int64_t const* const extents = extent + (3 - rank);
    std::int64_t const* const steps = step + (3 - rank);
#  if DNNL_VERSION_MAJOR >= 3
    if (dnnl_memory_desc_create_with_strides(&layout_, rank, extents, dnnl_bf16, steps) != dnnl_success)
      layout_ = nullptr;
#  else
    is_made_ = dnnl_memory_desc_init_by_strides(&layout_, rank, extents, dnnl_bf16, steps) == dnnl_success;
#  endif
  }
  onednn_layout(onednn_layout const&) = delete;
  onednn_layout& operator=(onednn_layout const&) = delete;

#  if DNNL_VERSION_MAJOR >= 3
  ~onednn_layout() { dnnl_memory_desc_destroy(layout_); }
  const_dnnl_memory_desc_t get() const { return layout_; }

 private:
  dnnl_memory_desc_t layout_ = nullptr;
#  else
  /// Returns oneDNN's layout, or nullptr if it has no such layout.
  dnnl_memory_desc_t const* get() const { return is_made_ ? &layout_ : nullptr; }

 private:
  dnnl_memory_desc_t layout_;
  bool is_made_ = false;
#  endif
};

/// Returns oneDNN's description of a product, or nullptr if it has none.
[[gnu::cold]] inline dnnl_primitive_desc_t describe_product(dnnl_engine_t engine, onednn_layout const& source,
                                                            onednn_layout const& weights, onednn_layout const& result) {
  dnnl_primitive_desc_t description = nullptr;
#  if DNNL_VERSION_MAJOR >= 3
  bool const made = dnnl_matmul_primitive_desc_create(&description, engine, source.get(), weights.get(), nullptr,
                                                      result.get(), nullptr) == dnnl_success;
#  else
  dnnl_matmul_desc_t product;
  bool const made =
      dnnl_matmul_desc_init(&product, source.get(), weights.get(), nullptr, result.get()) == dnnl_success &&
      dnnl_primitive_desc_create(&description, &product, nullptr, engine, nullptr) == dnnl_success;
#  endif
  return made ? description : nullptr;
}

/// A product of oneDNN for one shape, and the memory objects that name its operands.
struct onednn_product {
  matrix_product shape;
  dnnl_primitive_t primitive = nullptr;                   ///< nullptr: oneDNN has no fast one
  dnnl_memory_t memory[3] = {nullptr, nullptr, nullptr};  ///< of A, B and C

  [[gnu::cold]] void begin(dnnl_engine_t engine) {
    // The product by columns Z = X Y is Z' = Y' X' by rows.
    column_major_call const call = column_major(shape);
    onednn_layout const x(call.x, call.batch, call.inner, call.rows), y(call.y, call.batch, call.columns, call.inner),
        z(call.z, call.batch, call.columns, call.rows);
    if (x.get() == nullptr || y.get() == nullptr || z.get() == nullptr) return;
    dnnl_primitive_desc_t const description = describe_product(engine, y, x, z);
    if (description == nullptr) return;
    char const* name = "";
    bool made = dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) == dnnl_success &&
                std::string_view(name).substr(0, 3) == "brg" &&  // the others are slower, or take gaps for numbers
                dnnl_primitive_create(&primitive, description) == dnnl_success;
    dnnl_primitive_desc_destroy(description);
    made = made && dnnl_memory_create(&memory[call.x.operand], x.get(), engine, DNNL_MEMORY_NONE) == dnnl_success &&
           dnnl_memory_create(&memory[call.y.operand], y.get(), engine, DNNL_MEMORY_NONE) == dnnl_success &&
           dnnl_memory_create(&memory[2], z.get(), engine, DNNL_MEMORY_NONE) == dnnl_success;
    if (!made) end();
  }

  [[gnu::cold]] void end() {
    if (primitive != nullptr) dnnl_primitive_destroy(primitive);
    for (dnnl_memory_t& m : memory) {
      if (m != nullptr) dnnl_memory_destroy(m);
      m = nullptr;
    }
    primitive = nullptr;
  }
};

/// The products that a host thread used last.
class known_onednn_products {
 public:
  known_onednn_products() {
    require(dnnl_engine_create(&engine_, dnnl_cpu, 0), "dnnl_engine_create");
    require(dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags), "dnnl_stream_create");
  }
  known_onednn_products(known_onednn_products const&) = delete;
  known_onednn_products& operator=(known_onednn_products const&) = delete;
  ~known_onednn_products() {
    for (onednn_product& p : products_) p.end();
    dnnl_stream_destroy(stream_);
    dnnl_engine_destroy(engine_);
  }

  [[nodiscard]] static known_onednn_products& mine() {
    static thread_local constinit known_onednn_products* products = nullptr;
    return per_thread(products);
  }

  /// Returns the product of this shape. Valid until the next call.
  onednn_product const& find(matrix_product const& shape) {
    for (onednn_product const& p : products_)
      if (p.shape == shape) return p;
    return make(shape);
  }

  void run(onednn_product const& product, bfloat16 const* a, bfloat16 const* b, bfloat16* c) {
    // By columns, oneDNN's first operand is B.
    int const first = product.shape.by_rows ? 0 : 1;
    dnnl_exec_arg_t const arguments[3] = {{DNNL_ARG_SRC, product.memory[first]},
                                          {DNNL_ARG_WEIGHTS, product.memory[1 - first]},
                                          {DNNL_ARG_DST, product.memory[2]}};
    require(dnnl_memory_set_data_handle(product.memory[0], const_cast<bfloat16*>(a)), "dnnl_memory_set_data_handle");
    require(dnnl_memory_set_data_handle(product.memory[1], const_cast<bfloat16*>(b)), "dnnl_memory_set_data_handle");
    require(dnnl_memory_set_data_handle(product.memory[2], c), "dnnl_memory_set_data_handle");
    require(dnnl_primitive_execute(product.primitive, stream_, 3, arguments), "dnnl_primitive_execute");
    require(dnnl_stream_wait(stream_), "dnnl_stream_wait");
  }

 private:
  static void require(dnnl_status_t status, char const* call) {
    if (status != dnnl_success)
      throw_error(call, " failed with status ", static_cast<int>(status),
                  "; without ostraka::onednn the program multiplies bfloat16 as floats");
  }

  [[gnu::cold, gnu::noinline]] onednn_product const& make(matrix_product const& shape) {
    onednn_product made{shape};
    made.begin(engine_);
    return products_.add(made, [](onednn_product& oldest) { oldest.end(); });
  }

  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  recent_entries<onednn_product, 64> products_;  // shapes of a network; oneDNN itself remembers the code of 1024
};

/// oneDNN as a library for products of bfloat16.
struct onednn {
  static std::string name() {
    dnnl_version_t const* const v = dnnl_version();
    return join_text("oneDNN ", v->major, '.', v->minor, '.', v->patch);
  }

  /// True with the instructions for bfloat16; without them oneDNN emulates bfloat16, which is slower than floats.
  static bool serves_processor() {
    static bool const has_bfloat16 =
        (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
    return has_bfloat16;
  }

  static bool has(matrix_product const& p) { return known_onednn_products::mine().find(p).primitive != nullptr; }

  static void multiply(matrix_product const& p, bfloat16 const* a, bfloat16 const* b, bfloat16* c) {
    known_onednn_products& products = known_onednn_products::mine();
    products.run(products.find(p), a, b, c);
  }
};

}  // namespace detail

inline constexpr bfloat16_library onednn_for_bfloat16{&detail::onednn::name, &detail::onednn::serves_processor,
                                                      &detail::onednn::has, &detail::onednn::multiply};

namespace detail {

/// Tells the engine, before main, that the program has oneDNN.
[[gnu::visibility("default")]] inline bool const has_onednn =
    (bfloat16_library_of_program = &onednn_for_bfloat16, true);

}  // namespace detail
}  // namespace ostraka::engine

#endif
