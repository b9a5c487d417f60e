// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "by_hand.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace by_hand {

namespace {

constexpr float epsilon = 1e-6f;

// C [m, n] <- A B + beta C; `left` and `right` say whether A and B are transposed.
void multiply(CBLAS_TRANSPOSE left, CBLAS_TRANSPOSE right, int m, int n, int k, float const* a, int lda, float const* b,
              int ldb, float* c, int ldc, float beta = 0, float alpha = 1) {
  cblas_sgemm(CblasRowMajor, left, right, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
constexpr auto plain = CblasNoTrans;
constexpr auto turned = CblasTrans;

// y <- x / rms(x) g, row by row; r: the reciprocal of the root of each row's mean square.
void normalise(float const* x, float const* g, float* y, float* r, int rows, int d) {
  for (int i = 0; i < rows; ++i, x += d, y += d) {
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int j = 0; j < d; ++j) squares += x[j] * x[j];
    float const s = r[i] = 1 / std::sqrt(squares / static_cast<float>(d) + epsilon);
#pragma omp simd
    for (int j = 0; j < d; ++j) y[j] = x[j] * s * g[j];
  }
}

// dx <- dx + the cotangent of x; dg <- that of g.
void normalise_backward(float const* x, float const* g, float const* r, float const* dy, float* dx, float* dg, int rows,
                        int d) {
  std::fill(dg, dg + d, 0.f);
  for (int i = 0; i < rows; ++i, x += d, dy += d, dx += d) {
    float const s = r[i];
    float along = 0;
#pragma omp simd reduction(+ : along)
    for (int j = 0; j < d; ++j) {
      along += dy[j] * g[j] * x[j];
      dg[j] += dy[j] * x[j] * s;
    }
    float const back = along * s * s * s / static_cast<float>(d);
#pragma omp simd
    for (int j = 0; j < d; ++j) dx[j] += dy[j] * g[j] * s - x[j] * back;
  }
}

// Rotates each head's pairs, which are half its width apart, by the angles of its position; back if sign is −1.
void turn(float* q, float const* angles, float sign, int batch, int tokens, int heads, int width) {
  int const half = width / 2;
  for (int b = 0; b < batch; ++b)
    for (int t = 0; t < tokens; ++t) {
      float const* const cosine = angles + t * width;
      float const* const sine = cosine + half;
      for (int h = 0; h < heads; ++h, q += width)
#pragma omp simd
        for (int f = 0; f < half; ++f) {
          float const one = q[f], other = q[f + half], s = sign * sine[f];
          q[f] = one * cosine[f] - other * s;
          q[f + half] = one * s + other * cosine[f];
        }
    }
}

}  // namespace

transformer_block::transformer_block(extents const& e, layout l, MPI_Comm all) : e_(e), layout_(l), all_(all) {
  MPI_Comm_size(all, &ranks_);
  MPI_Comm_rank(all, &rank_);
  bool const tensor = l == layout::tensor_parallel;
  batch_ = tensor ? e.batch : e.batch / ranks_;
  heads_ = tensor ? e.heads / ranks_ : e.heads;
  hidden_ = tensor ? e.hidden / ranks_ : e.hidden;
  rows_ = batch_ * e.tokens;
  inner_ = heads_ * e.width;
  int const d = e.model;
  whole_ = {d, d * inner_, d * inner_, d * inner_, inner_ * d, d, d * hidden_, d * hidden_, hidden_ * d};
  for (int k = 0; k < parameters; ++k) {
    own_[k] = tensor ? whole_[k] : whole_[k] / ranks_;
    if (!tensor) {
      gathered_[k].resize(whole_[k]);
      gradient_[k].resize(whole_[k]);
    }
  }
  std::size_t const model = static_cast<std::size_t>(rows_) * d, inner = static_cast<std::size_t>(rows_) * inner_,
                    hidden = static_cast<std::size_t>(rows_) * hidden_;
  for (values* v : {&n_, &a_, &m_, &y_, &dy_, &dm_, &da_, &dn_}) v->resize(model);
  for (values* v : {&q_, &k_, &v_, &o_, &do_, &dq_, &dk_, &dv_}) v->resize(inner);
  for (values* v : {&u_, &w_, &s_, &ds_, &du_, &dw_}) v->resize(hidden);
  scores_.resize(static_cast<std::size_t>(batch_) * heads_ * e.tokens * e.tokens);
  dscores_.resize(static_cast<std::size_t>(e.tokens) * e.tokens);
  r1_.resize(rows_);
  r2_.resize(rows_);
  incoming_.resize(std::max<std::size_t>(model, *std::max_element(own_.begin(), own_.end())));
  angles_.resize(static_cast<std::size_t>(e.tokens) * e.width);
  int const half = e.width / 2;
  for (int t = 0; t < e.tokens; ++t)
    for (int f = 0; f < half; ++f) {
      double const angle = t * std::pow(10000., -static_cast<double>(f) / half);
      angles_[t * e.width + f] = static_cast<float>(std::cos(angle));
      angles_[t * e.width + half + f] = static_cast<float>(std::sin(angle));
    }
}

void transformer_block::gather(std::array<float const*, parameters> const& p) {
  for (int k = 0; k < parameters; ++k) {
    if (layout_ == layout::tensor_parallel || ranks_ == 1) {
      p_[k] = p[k];
      continue;
    }
    MPI_Allgather(p[k], own_[k], MPI_FLOAT, gathered_[k].data(), own_[k], MPI_FLOAT, all_);
    p_[k] = gathered_[k].data();
  }
}

// own <- the sum over all ranks of their parts for this rank.
void transformer_block::reduce_scatter(float* all, float* own, int count) {
  if (way_ == way::collectives) {
    MPI_Reduce_scatter_block(all, own, count, MPI_FLOAT, MPI_SUM, all_);
    return;
  }
  std::copy_n(all + rank_ * count, count, own);
  for (int k = 1; k < ranks_; ++k) {
    int const to = (rank_ + k) % ranks_, from = (rank_ + ranks_ - k) % ranks_;
    MPI_Sendrecv(all + to * count, count, MPI_FLOAT, to, 0, incoming_.data(), count, MPI_FLOAT, from, 0, all_,
                 MPI_STATUS_IGNORE);
    float const* const in = incoming_.data();
#pragma omp simd
    for (int i = 0; i < count; ++i) own[i] += in[i];
  }
}

// data <- the sum over all ranks.
void transformer_block::add_up(float* data, int count) {
  if (layout_ != layout::tensor_parallel || ranks_ == 1) return;
  if (way_ == way::collectives || count % ranks_ != 0) {
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, all_);
    return;
  }
  int const part = count / ranks_;
  for (int k = 1; k < ranks_; ++k) {
    int const to = (rank_ + k) % ranks_, from = (rank_ + ranks_ - k) % ranks_;
    MPI_Sendrecv(data + to * part, part, MPI_FLOAT, to, 0, incoming_.data(), part, MPI_FLOAT, from, 0, all_,
                 MPI_STATUS_IGNORE);
    float* const own = data + rank_ * part;
    float const* const in = incoming_.data();
#pragma omp simd
    for (int i = 0; i < part; ++i) own[i] += in[i];
  }
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, part, MPI_FLOAT, all_);
}

void transformer_block::attend(int b, int h) {
  int const t = e_.tokens, w = e_.width;
  std::size_t const at = (static_cast<std::size_t>(b) * t * heads_ + h) * w;
  float* const p = scores_.data() + (static_cast<std::size_t>(b) * heads_ + h) * t * t;
  multiply(plain, turned, t, t, w, q_.data() + at, inner_, k_.data() + at, inner_, p, t, 0,
           1 / std::sqrt(static_cast<float>(w)));
  for (int i = 0; i < t; ++i) {
    float* const row = p + static_cast<std::size_t>(i) * t;
    float most = row[0], sum = 0;
#pragma omp simd reduction(max : most)
    for (int j = 0; j <= i; ++j) most = std::max(most, row[j]);
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j <= i; ++j) sum += row[j] = std::exp(row[j] - most);
    float const share = 1 / sum;
#pragma omp simd
    for (int j = 0; j <= i; ++j) row[j] *= share;
    std::fill(row + i + 1, row + t, 0.f);
  }
  multiply(plain, plain, t, w, t, p, t, v_.data() + at, inner_, o_.data() + at, inner_);
}

void transformer_block::attend_backward(int b, int h) {
  int const t = e_.tokens, w = e_.width;
  std::size_t const at = (static_cast<std::size_t>(b) * t * heads_ + h) * w;
  float const* const p = scores_.data() + (static_cast<std::size_t>(b) * heads_ + h) * t * t;
  float* const d = dscores_.data();
  multiply(turned, plain, t, w, t, p, t, do_.data() + at, inner_, dv_.data() + at, inner_);
  multiply(plain, turned, t, t, w, do_.data() + at, inner_, v_.data() + at, inner_, d, t);
  float const scale = 1 / std::sqrt(static_cast<float>(w));
  for (int i = 0; i < t; ++i) {
    float const* const share = p + static_cast<std::size_t>(i) * t;
    float* const row = d + static_cast<std::size_t>(i) * t;
    float along = 0;
#pragma omp simd reduction(+ : along)
    for (int j = 0; j <= i; ++j) along += share[j] * row[j];
#pragma omp simd
    for (int j = 0; j <= i; ++j) row[j] = share[j] * (row[j] - along) * scale;
    std::fill(row + i + 1, row + t, 0.f);
  }
  multiply(plain, plain, t, w, t, d, t, k_.data() + at, inner_, dq_.data() + at, inner_);
  multiply(turned, plain, t, w, t, d, t, q_.data() + at, inner_, dk_.data() + at, inner_);
}

float transformer_block::step(float const* x, float const* t, std::array<float const*, parameters> const& p, float* dx,
                              std::array<float*, parameters> const& dp) {
  int const r = rows_, d = e_.model, i = inner_, f = hidden_;
  std::size_t const model = static_cast<std::size_t>(r) * d, hidden = static_cast<std::size_t>(r) * f;
  gather(p);

  // forward
  normalise(x, p_[g1], n_.data(), r1_.data(), r, d);
  multiply(plain, plain, r, i, d, n_.data(), d, p_[wq], i, q_.data(), i);
  multiply(plain, plain, r, i, d, n_.data(), d, p_[wk], i, k_.data(), i);
  multiply(plain, plain, r, i, d, n_.data(), d, p_[wv], i, v_.data(), i);
  turn(q_.data(), angles_.data(), 1, batch_, e_.tokens, heads_, e_.width);
  turn(k_.data(), angles_.data(), 1, batch_, e_.tokens, heads_, e_.width);
  for (int b = 0; b < batch_; ++b)
    for (int h = 0; h < heads_; ++h) attend(b, h);
  multiply(plain, plain, r, d, i, o_.data(), i, p_[wo], d, a_.data(), d);
  add_up(a_.data(), static_cast<int>(model));
  float* const a = a_.data();
#pragma omp simd
  for (std::size_t j = 0; j < model; ++j) a[j] += x[j];
  normalise(a, p_[g2], m_.data(), r2_.data(), r, d);
  multiply(plain, plain, r, f, d, m_.data(), d, p_[w1], f, u_.data(), f);
  multiply(plain, plain, r, f, d, m_.data(), d, p_[w3], f, w_.data(), f);
  float const* const u = u_.data();
  float const* const w = w_.data();
  float* const s = s_.data();
#pragma omp simd
  for (std::size_t j = 0; j < hidden; ++j) s[j] = u[j] / (1 + std::exp(-u[j])) * w[j];
  multiply(plain, plain, r, d, f, s, f, p_[w2], d, y_.data(), d);
  add_up(y_.data(), static_cast<int>(model));
  float const* const y = y_.data();
  float loss = 0;
#pragma omp simd reduction(+ : loss)
  for (std::size_t j = 0; j < model; ++j) loss += (y[j] + a[j]) * t[j];
  if (layout_ == layout::fully_sharded) MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_FLOAT, MPI_SUM, all_);

  // backward; the result's cotangent is t
  bool const scatters = layout_ == layout::fully_sharded && ranks_ > 1;
  auto const into = [&](parameter k) { return scatters ? gradient_[k].data() : dp[k]; };
  auto const done = [&](parameter k) {
    if (scatters) reduce_scatter(gradient_[k].data(), dp[k], own_[k]);
  };
  multiply(turned, plain, f, d, r, s, f, t, d, into(w2), d);
  done(w2);
  multiply(plain, turned, r, f, d, t, d, p_[w2], d, ds_.data(), f);
  float const* const ds = ds_.data();
  float* const du = du_.data();
  float* const dw = dw_.data();
#pragma omp simd
  for (std::size_t j = 0; j < hidden; ++j) {
    float const sigmoid = 1 / (1 + std::exp(-u[j]));
    dw[j] = ds[j] * u[j] * sigmoid;
    du[j] = ds[j] * w[j] * sigmoid * (1 + u[j] * (1 - sigmoid));
  }
  multiply(turned, plain, d, f, r, m_.data(), d, du, f, into(w1), f);
  done(w1);
  multiply(turned, plain, d, f, r, m_.data(), d, dw, f, into(w3), f);
  done(w3);
  multiply(plain, turned, r, d, f, du, f, p_[w1], f, dm_.data(), d);
  multiply(plain, turned, r, d, f, dw, f, p_[w3], f, dm_.data(), d, 1);
  add_up(dm_.data(), static_cast<int>(model));
  std::copy_n(t, model, da_.data());
  normalise_backward(a, p_[g2], r2_.data(), dm_.data(), da_.data(), into(g2), r, d);
  done(g2);
  multiply(turned, plain, i, d, r, o_.data(), i, da_.data(), d, into(wo), d);
  done(wo);
  multiply(plain, turned, r, i, d, da_.data(), d, p_[wo], d, do_.data(), i);
  for (int b = 0; b < batch_; ++b)
    for (int h = 0; h < heads_; ++h) attend_backward(b, h);
  turn(dq_.data(), angles_.data(), -1, batch_, e_.tokens, heads_, e_.width);
  turn(dk_.data(), angles_.data(), -1, batch_, e_.tokens, heads_, e_.width);
  multiply(turned, plain, d, i, r, n_.data(), d, dq_.data(), i, into(wq), i);
  done(wq);
  multiply(turned, plain, d, i, r, n_.data(), d, dk_.data(), i, into(wk), i);
  done(wk);
  multiply(turned, plain, d, i, r, n_.data(), d, dv_.data(), i, into(wv), i);
  done(wv);
  multiply(plain, turned, r, d, i, dq_.data(), i, p_[wq], i, dn_.data(), d);
  multiply(plain, turned, r, d, i, dk_.data(), i, p_[wk], i, dn_.data(), d, 1);
  multiply(plain, turned, r, d, i, dv_.data(), i, p_[wv], i, dn_.data(), d, 1);
  add_up(dn_.data(), static_cast<int>(model));
  std::copy_n(da_.data(), model, dx);
  normalise_backward(x, p_[g1], r1_.data(), dn_.data(), dx, into(g1), r, d);
  done(g1);
  return loss;
}

}  // namespace by_hand
