// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Programs from their text: accepted texts, refused texts with their errors, and that no bytes at all cause a crash.

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/program/build.hpp>

#include "../../examples/explorer/program/parse.hpp"
#include "../../examples/explorer/program/unsharded.hpp"

using namespace explorer;
using namespace ostraka::planner;

namespace {

std::vector<named_size> const mesh{{"X", 2}, {"Y", 4}};
std::vector<named_size> const sizes{{"B", 128}, {"S", 512}, {"M", 1024}, {"H", 4096}};

parsed<parsed_program> read(std::string_view text) { return parse_program(text, mesh, sizes); }

// The error as a user sees it.
std::string said(std::string_view text) {
  auto const p = read(text);
  return p.ok() ? "" : describe(*p.error, text);
}

program_tensor const& tensor(parsed_program const& p, std::string_view name) {
  int const at = p.program.find_tensor(name);
  REQUIRE(at >= 0);
  return p.program.tensors[static_cast<std::size_t>(at)];
}

// The mesh axes that divide a dimension, by name: "XY".
std::string over(parsed_program const& p, std::string_view name, std::size_t dimension) {
  mesh_order const o = tensor(p, name).sharding->over[dimension];
  std::string text;
  for (int k = 0; k < o.size(); ++k) text += p.program.mesh_axes[static_cast<std::size_t>(o[k])];
  return text;
}

}  // namespace

TEST_CASE("an einsum as in the literature") {
  auto const p = read("h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]");
  REQUIRE(p.ok());
  program const& made = p.value.program;
  REQUIRE(made.statements.size() == 1);
  CHECK(made.statements[0].operands.size() == 2);
  CHECK(made.tensors.size() == 3);
  CHECK(made.tensors[0].name == "h");
  CHECK(made.tensors[0].axes == std::vector<int>{0, 1, 2});
  CHECK(over(p.value, "h", 0) == "X");
  CHECK(over(p.value, "h", 1).empty());
  CHECK(over(p.value, "W", 1) == "Y");
  CHECK(tensor(p.value, "a").role == tensor_role::result);
  CHECK(tensor(p.value, "h").role == tensor_role::input);
}

TEST_CASE("one program in many spellings") {
  for (char const* text :
       {"h[B_X, S, M_Y] · W[M_X, H_Y] → a[B_X, S, H_Y]", "h[B_X,S,M_Y]*W[M_X,H_Y]->a[B_X,S,H_Y]",
        "a[B_X, S, H_Y] = h[B_X, S, M_Y] · W[M_X, H_Y]", "h[B/X, S, M/Y], W[M/X, H/Y] -> a[B/X, S, H/Y]",
        "# a layer\n\n  h[B_X,S,M_Y] W[M_{X},H_Y] -> a[B_X,S,H_Y]  # in\n;;"}) {
    CAPTURE(text);
    auto const p = read(text);
    REQUIRE(p.ok());
    CHECK(over(p.value, "h", 0) == "X");
    CHECK(over(p.value, "h", 2) == "Y");
    CHECK(over(p.value, "W", 0) == "X");
    CHECK(over(p.value, "a", 2) == "Y");
  }
}

TEST_CASE("several mesh axes, words, partial sums, tensors without a name") {
  auto const p = parse_program(
      "mesh data=2, model_axis=4, Z=2\nsizes batch=64, head_dim=32, d=8\n"
      "[batch_{data,Z}, head_dim_model_axis] {U_Z} -> [head_dim_{model_axis}, batch]\n"
      "A[d_Z, batch] -> q[d_Z/data, batch]");
  // Z divides the batch already.
  CHECK(!p.ok());
  auto const q = parse_program(
      "mesh data=2, model_axis=4, Z=2\nsizes batch=64, head_dim=32, d=8\n"
      "[batch_{data,Z}, head_dim_model_axis] -> [head_dim_{model_axis}, batch]\n"
      "p[d, batch] {U_{Z,data}} -> q[d_Z/data, batch_model_axis]");
  REQUIRE(q.ok());
  CHECK(over(q.value, "A", 0) == "dataZ");
  CHECK(over(q.value, "A", 1) == "model_axis");
  CHECK(over(q.value, "B", 0) == "model_axis");
  CHECK(over(q.value, "q", 0) == "Zdata");
  CHECK(tensor(q.value, "p").sharding->partial == (mesh_set::of(0) | mesh_set::of(2)));
  CHECK(q.value.mesh_sizes == std::vector<std::int64_t>{2, 4, 2});
  CHECK(over(read("A[B_XY] -> C[B_YX]").value, "C", 0) == "YX");
}

TEST_CASE("a program of several lines") {
  auto const p = read(
      "h[B_X,S,M_Y] up[M_X,H_Y] -> a[B_X,S,H_Y]\n"
      "gelu(a) -> g[B_X, S, H_Y]\n"
      "y[B_X, S, M_Y] = g · down[H_Y, M_X]; y -> z[B_X, S_Y, M]\n");
  REQUIRE(p.ok());
  REQUIRE(p.value.program.statements.size() == 4);
  CHECK(p.value.program.statements[1].kind == statement_kind::operation);
  CHECK(tensor(p.value, "a").role == tensor_role::intermediate);
  CHECK(tensor(p.value, "z").role == tensor_role::result);
  CHECK(p.value.statements[3].length == std::string_view("y -> z[B_X, S_Y, M]").size());
  CHECK(read("a[B_X] = gelu(b[B_X])").ok());
  CHECK(read("h[B_X] h[B_X] -> c[]").ok());  // a norm
}

TEST_CASE("a tensor under other names of its axes") {
  auto const p =
      read("sizes T=512\nk[B_X, S, M_Y] -> z[B]\nq[B_X, S, M_Y] · k[B_X, T, M_Y] -> s[B_X, S, T]\nk -> w[B_X, S, M]");
  REQUIRE(p.ok());
  program const& made = p.value.program;
  CHECK(tensor(p.value, "k").axes == std::vector<int>{0, 1, 2});
  CHECK(made.statements[1].operands[1].axes == std::vector<int>{0, made.find_axis("T"), 2});
  CHECK(made.statements[2].operands[0].axes == std::vector<int>{0, 1, 2});
  // Another extent, another sharding, a transpose: none is another name of the same tensor.
  CHECK(!read("k[B_X, S] -> z[B]; k[B_X, M] -> y[B]").ok());
  CHECK(!read("sizes T=512; k[B_X, S] -> z[B]; k[B, T] -> y[B]").ok());
  CHECK(!read("sizes T=512; k[S, T] -> z[S]; k[T, S] -> y[S]").ok());
}

TEST_CASE("axes that one operand alone has") {
  CHECK(said("sizes N=1024\nh[B_X, M] · w[N, H_Y] -> a[B_X, H_Y]") ==
        "error: axis N would be summed on its own: w alone has it, and the result lacks it\n"
        "  h[B_X, M] · w[N, H_Y] -> a[B_X, H_Y]\n"
        "                           ^~~~~~~~~~~\n"
        "  remedy: rename it to what it is to meet, w[M, H]; or sum it in a statement before, or ask for it: "
        "sum_over(N)\n");
  CHECK(said("h[B_X, M] · w[S, H_Y] -> a[B_X, H_Y]")
            .find("remedy: sum it in a statement before, or ask for it: sum_over(S)") != std::string::npos);
  for (char const* text :
       {"sizes N=1024\nh[B_X, M] · w[N, H_Y] -> a[B_X, H_Y] sum_over(M, N)",
        "sizes N=1024; h[B_X, M] w[N, H_Y] -> a[B_X, H_Y], sum_over(N,M); a -> b[B, H]",
        "sizes N=1024\na[B_X, H_Y] = h[B_X, M] · w[N, H_Y] sum_over(N, M)  # apart",
        "sizes N=1024\na[B_X, H_Y] = h[B_X, M] w[N, H_Y], sum_over(N, M)"}) {
    CAPTURE(text);
    auto const p = read(text);
    REQUIRE(p.ok());
    CHECK(p.value.program.statements[0].summed_unshared.size() == 2);
    CHECK(unsharded(p.value.program, 2).statements[0].summed_unshared.size() == 2);
  }
  CHECK(read("h[B_X, M] -> a[B_X]").ok());  // one operand
  CHECK(read("sum_over[B_X, M] -> a[B_X]").ok());  // a name like any other
  CHECK(said("h[B_X, M] w[M, H] -> a[B_X, H] sum_over(M)").find("sum_over names axis M, which is kept, or") !=
        std::string::npos);
  CHECK(said("h[B_X, M] w[M, H] -> a[B_X, H] sum_over(Q)").find("axis Q has no size") != std::string::npos);
  CHECK(said("h[B_X, M] w[M, H] -> a[B_X, H] sum_over(").find("expected an axis") != std::string::npos);
  CHECK(said("h[B_X, M] w[M, H] -> a[B_X, H] sum_over(S").find("expected a comma and another axis, or )") !=
        std::string::npos);
  program_builder p("layer");
  p.axis("B", 4).axis("M", 8).axis("N", 8).axis("H", 2).input("x[B, M]").parameter("w[N, H]");
  CHECK_THROWS_WITH_AS(p.einsum("y[B, H]", {"x", "w"}),
                       "program layer: y[B, H]: axis N would be summed on its own: w alone has it, and the result "
                       "lacks "
                       "it; rename it to what it is to meet, w[M, H]; or sum it in a statement before, or ask for it: "
                       "sum_over(N)",
                       ostraka::error);
  p = program_builder("layer");
  p.axis("B", 4).axis("M", 8).axis("N", 8).axis("H", 2).input("x[B, M]").parameter("w[N, H]");
  CHECK(p.einsum("y[B, H]", {"x", "w"}, {.sum_over = {"M", "N"}}).get().statements[0].summed_unshared.size() == 2);
  CHECK_THROWS_AS(p.partial_einsum("z[B, H]", {"x", "w[M, H]"}, {.sum_over = {"M"}}), ostraka::error);
}

TEST_CASE("an error is the line, a caret, what was expected, the remedy") {
  CHECK(said("h[B_X,S,M_X] W[M_X,H_Y] -> a[B_X,S,H_Y]") ==
        "error: mesh axis X divides axis B of this tensor already\n"
        "  h[B_X,S,M_X] W[M_X,H_Y] -> a[B_X,S,H_Y]\n"
        "            ^\n"
        "  remedy: a mesh axis divides one axis of a tensor: divide the other over Y, or leave it whole\n");
  CHECK(said("h[B_X, S] · W[S, H_Z] → a[B_X, H_Z]") ==
        "error: mesh axis Z is not in the mesh, which has X, Y\n"
        "  h[B_X, S] · W[S, H_Z] → a[B_X, H_Z]\n"
        "                     ^\n"
        "  remedy: divide over one of these, or add it: --mesh Z=…\n");
  CHECK(said("h[B_X, Q] W[Q] -> a[B_X]") ==
        "error: axis Q has no size\n"
        "  h[B_X, Q] W[Q] -> a[B_X]\n"
        "         ^\n"
        "  remedy: give it one: --sizes Q=…, or a line `sizes Q=…`\n");
  std::string const text = "mesh X=2\nsizes B=4\n\n  a[B_X -> b[B]";
  auto const p = parse_program(text);
  REQUIRE(!p.ok());
  CHECK(describe(*p.error, text, "layer.txt") ==
        "layer.txt:4:9: error: expected a comma and another axis, or ], not '-'\n"
        "    a[B_X -> b[B]\n"
        "          ^\n");
}

TEST_CASE("what is wrong is named") {
  struct {
    char const* text;
    char const* sentence;
  } const cases[] = {
      {"", "there is no statement to plan"},
      {"h[B", "expected a comma and another axis, or ], not the end"},
      {"h[]", "expected another tensor, or -> and the result, not the end"},
      {"h[B] ->", "expected a tensor, not the end"},
      {"h[B] -> a", "the result has no axes"},
      {"h[B] -> h[B]", "h stands above already"},
      {"h[B,B] -> a[B]", "axis B appears twice in one tensor"},
      {"h[B_XX] -> a[B]", "mesh axis X divides the same axis twice"},
      {"h[B_X] {U_X} -> a[B]", "mesh axis X divides axis B of this tensor already"},
      {"h[B] {V_X} -> a[B]", "expected U_ and mesh axes, not 'V_X'"},
      {"h[B] -> a[B, S]", "axis S of the result is in no operand"},
      {"h -> a[B]", "h has no axes, and does not stand above"},
      {"h[B] h[S] -> a[B]", "h stands above with other axes or another sharding"},
      {"h[B] W[B] -> a[B] b", "expected the end of the line, not 'b'"},
      {"gelu(h[B_X]) -> a[B_Y]", "gelu works element by element, and axis B is divided otherwise in h"},
      {"gelu(h[B_X, S]) -> a[B_X]", "gelu works element by element, and the result lacks axis S of h"},
      {"gelu(h[B] {U_X}) -> a[B]", "gelu is not linear, and h is partial"},
      {"mesh X=3", "X is 2 already"},
      {"mesh W=0", "a size is at least 1"},
      {"mesh W=x", "expected a number from 1, not 'x'"},
      {"mesh W=1048576", "the mesh has more than 1048576 devices"},
      {"mesh P=1,Q=1,R=1,T=1,V=1,W=1,Z=1,K=1,L=1", "the mesh has more than "},
      {"sizes Q=99999999999999999999", "a size is at most 1099511627776"},
      {"sizes P=1099511627776, Q=1099511627776\nh[P] W[Q] -> a[P, Q]", "with these sizes"},
      {"A[B] A[B] A[B] A[B] A[B] A[B] A[B] A[B] A[B] -> c[B]", "an einsum has at most 8 operands"},
      {"h[B] \xff", "expected another tensor, or -> and the result, not"},
  };
  for (auto const& c : cases) {
    CAPTURE(c.text);
    auto const p = read(c.text);
    REQUIRE(!p.ok());
    INFO(p.error->message);
    CHECK(p.error->message.find(c.sentence) != std::string::npos);
  }
}

TEST_CASE("sizes") {
  auto const p = parse_sizes("X=2, Y=4");
  REQUIRE(p.ok());
  REQUIRE(p.value.size() == 2);
  CHECK(p.value[1].name == "Y");
  CHECK(p.value[1].size == 4);
  for (char const* wrong : {"", "X", "X=", "X=-1", "X=2,", "X=2 Y=4", "X=2;", "=2", "X=2,X=3", "X=1e9"})
    CHECK(!parse_sizes(wrong).ok());
}

TEST_CASE("random bytes and spoilt programs end in a program or an error, with its place in the text") {
  std::mt19937 random(18);
  auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  std::string const good[] = {
      "h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]", "mesh Z=3\nsizes Q=5\na[Q_Z, B_{X,Y}] {U_Y} · b → c[Q]",
      "gelu(a[B_XY]) -> g[B_XY]; y[] = g g\n# end", "y[B_X/Y, S] = x[B, S, M] · w[M_X] * v[S_Y]"};
  std::string const pieces[] = {"[",
                                "]",
                                "{",
                                "}",
                                "U_",
                                "_",
                                "/",
                                "->",
                                "→",
                                "·",
                                "*",
                                ",",
                                ";",
                                "\n",
                                "=",
                                "#",
                                "(",
                                ")",
                                "mesh ",
                                "sizes ",
                                "X",
                                "B",
                                "\xe2",
                                std::string(1, '\0'),
                                "9999999999999999999",
                                "7"};
  int programs = 0;
  auto const feed = [&](std::string const& text) {
    auto const p = read(text);
    programs += p.ok() ? 1 : 0;
    if (p.ok()) {
      CHECK(!p.value.program.statements.empty());
      for (program_tensor const& t : p.value.program.tensors) CHECK(t.sharding->over.size() == t.axes.size());
    } else {
      CHECK(p.error->where.begin <= text.size());
      CHECK(!describe(*p.error, text, "f").empty());
    }
    (void)parse_sizes(text);
  };
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    if (i % 2 == 0) {
      for (std::size_t n = below(40); n > 0; --n)
        text += i % 4 == 0 ? std::string(1, static_cast<char>(below(256))) : pieces[below(std::size(pieces))];
    } else {
      text = good[below(std::size(good))];
      for (std::size_t n = 1 + below(4); n > 0; --n) {
        std::size_t const at = below(text.size() + 1);
        if (below(2) == 0)
          text.insert(at, pieces[below(std::size(pieces))]);
        else
          text.erase(at, 1 + below(3));
      }
    }
    feed(text);
  }
  for (std::string const& text : good)
    for (std::size_t n = 0; n <= text.size(); ++n) feed(text.substr(0, n));
  CHECK(programs > 100);
}

TEST_CASE("sizes that are given beside a text are from 1, too") {
  auto const given = [](std::int64_t of_mesh, std::int64_t of_axis) {
    auto const p = parse_program("h[B_X] -> a[B]", {{"X", of_mesh}}, {{"B", of_axis}});
    return p.ok() ? std::string() : p.error->message;
  };
  CHECK(given(2, 8).empty());
  for (std::int64_t n : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{1} << 41}) {
    CHECK(given(n, 8).find("the size of X is not from 1") == 0);
    CHECK(given(2, n).find("the size of B is not from 1") == 0);
  }
}

TEST_CASE("softmax and norms work along the last axis") {
  auto const p = read("h[B,S,M] -> a[B,S]; softmax(a) -> p[B,S]; rms_norm(p) -> r[B,S]; gelu(r) -> g[B,S]");
  REQUIRE(p.ok());
  std::vector<program_statement> const& s = p.value.program.statements;
  CHECK(s[0].rows.empty());
  CHECK(s[1].rows == std::vector<int>{1});
  CHECK(s[1].row_numbers == 2);  // the maximum and the sum
  CHECK(s[2].rows == std::vector<int>{1});
  CHECK(s[2].row_numbers == 1);
  CHECK(s[3].rows.empty());
}

TEST_CASE("a program without its shardings: parameters lack the batch's axis, and have axes of their own") {
  auto const p = read(
      "h[B_X,S,M_Y] up[M_X,H_Y] -> a[B_X,S,H_Y]; add(a, b[H_Y]) -> g[B_X,S,H_Y]; "
      "g down[H_Y,M_X] -> y[B_X,S,M_Y]; y · t[B_X,S,M_Y] -> l[]");
  REQUIRE(p.ok());
  program const made = unsharded(p.value.program, 2);
  CHECK(list_of_tensors(made, tensor_role::parameter) == "up[M_w, H_w], b[H_w], down[H_w, M_w]");
  CHECK(list_of_tensors(made, tensor_role::carried) == "h[B, S, M], t[B, S, M]");
  CHECK(list_of_tensors(made, tensor_role::intermediate) == "a[B, S, H], g[B, S, H], y[B, S, M]");
  CHECK(list_of_tensors(made, tensor_role::result) == "l[]");
  CHECK(list_of_tensors(made, tensor_role::input).empty());
  CHECK(made.mesh_axes.empty());
  for (program_tensor const& t : made.tensors) {
    CHECK(!t.sharding);
    CHECK(t.element_bytes == 2);
  }
  // Statements name a parameter's dimensions as they did.
  for (std::size_t s = 0; s < made.statements.size(); ++s)
    for (std::size_t k = 0; k < made.statements[s].operands.size(); ++k)
      CHECK(made.statements[s].operands[k].axes == p.value.program.statements[s].operands[k].axes);
  int const own = made.find_axis("H_w");
  REQUIRE(own >= 0);
  CHECK(made.axes[static_cast<std::size_t>(own)].extent == 4096);
}

TEST_CASE("… an axis of parameters alone stays one, and no axis gets a name that is taken") {
  std::vector<named_size> const taken{{"B", 8}, {"M", 16}, {"H", 32}, {"H_w", 4}, {"K", 4}};
  auto const p = parse_program("x[B,M] u[M,K] v[K,H] -> a[B,H]", {}, taken);
  REQUIRE(p.ok());
  program const made = unsharded(p.value.program, 4);
  CHECK(list_of_tensors(made, tensor_role::parameter) == "u[M_w, K], v[K, H_w_w]");
  auto const scalar = parse_program("x[] y[B] -> z[B]", {}, taken);
  REQUIRE(scalar.ok());
  CHECK(list_of_tensors(unsharded(scalar.value.program, 4), tensor_role::parameter) == "x[], y[B_w]");
}
