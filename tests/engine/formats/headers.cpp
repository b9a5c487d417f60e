// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Headers of files from anywhere: everything that the formats allow is read, and everything else is refused with a
/// sentence that says why, before anything of the claimed size is allocated. Then some 10^5 mutations of good files.
// ranks: 1

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/header_targets.hpp"

namespace e = ostraka::engine;
namespace t = ostraka::testing;

namespace {

std::string length_of(std::string const& json) {
  std::string s;
  for (int byte = 0; byte < 8; ++byte) s += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  return s;
}

// The message of a reader for a file with this header and so many bytes of data; "" if it accepts the file.
std::string said_of_json(std::string const& json, std::int64_t data_bytes) {
  try {
    static_cast<void>(e::parse_safetensors(json, 8 + static_cast<std::int64_t>(json.size()) + data_bytes));
    return "";
  } catch (e::malformed_header const& error) {
    return error.what();
  }
}

std::string npy(std::string const& dictionary, int major = 1) {
  std::string s = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte) s += static_cast<char>(dictionary.size() >> 8 * byte & 0xFF);
  return s + dictionary;
}

std::string said_of_npy(std::string const& file, std::int64_t data_bytes) {
  try {
    std::int64_t const size = static_cast<std::int64_t>(file.size()) + data_bytes;
    std::int64_t const header = e::npy_header_bytes(std::string_view(file).substr(0, 12), size);
    static_cast<void>(e::parse_npy(std::string_view(file).substr(0, static_cast<std::size_t>(header)), size));
    return "";
  } catch (e::malformed_header const& error) {
    return error.what();
  }
}

bool says(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

std::string one(std::string const& inside) { return "{\"a\":{" + inside + "}}"; }

// splitmix64
struct numbers {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>((*this)() % n); }
};

// Makes a few changes: bytes, bits, words of the grammar, pieces cut out, doubled or moved, an end cut off.
std::string mutated(std::string s, numbers& random) {
  static std::vector<std::string> const words = {"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "\"",
                                                 ",",
                                                 ":",
                                                 "(",
                                                 ")",
                                                 "'",
                                                 "L",
                                                 "\\",
                                                 "\\u0000",
                                                 "\\ud800",
                                                 "\\ud83d\\ude00",
                                                 "\xc3",
                                                 "\xed\xa0\x80",
                                                 "0",
                                                 "-1",
                                                 "1e9",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "18446744073709551615",
                                                 "4611686018427387904",
                                                 "\"dtype\"",
                                                 "\"shape\"",
                                                 "\"data_offsets\"",
                                                 "\"__metadata__\"",
                                                 "'descr'",
                                                 "'shape'",
                                                 "True",
                                                 "\"F4\"",
                                                 "\"BOOL\"",
                                                 "[[[[[[[[",
                                                 "null",
                                                 "\n",
                                                 std::string(1, '\0')};
  for (std::size_t changes = 1 + random.below(4); changes-- > 0;) {
    std::size_t const at = random.below(s.size() + 1), length = random.below(12);
    switch (random.below(7)) {
      case 0:
        if (at < s.size()) s[at] = static_cast<char>(random());
        break;
      case 1:
        if (at < s.size()) s[at] = static_cast<char>(s[at] ^ 1 << random.below(8));
        break;
      case 2:
        s.insert(at, words[random.below(words.size())]);
        break;
      case 3:
        s.erase(at, length);
        break;
      case 4:
        s.insert(at, s.substr(random.below(s.size() + 1), length));
        break;
      case 5:
        s.replace(at, length, words[random.below(words.size())]);
        break;
      default:
        s.resize(at);
        break;
    }
  }
  return s;
}

template <class Try>
std::int64_t accepted(std::vector<std::string> const& seeds, int count, Try const& try_one) {
  numbers random{20261123};
  std::int64_t n = 0;
  for (int i = 0; i < count; ++i) n += try_one(mutated(seeds[random.below(seeds.size())], random)) ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("safetensors headers that are well-formed") {
  CHECK(said_of_json("{}", 0) == "");
  CHECK(said_of_json("{}   ", 0) == "");
  CHECK(said_of_json("{ \"a\" : { \"shape\" : [ 2 , 3 ] ,\n\"dtype\":\"F32\" , \"data_offsets\" : [ 0 , 24 ] } } ",
                     24) == "");
  CHECK(said_of_json(one(R"("dtype":"F64","shape":[],"data_offsets":[0,8])"), 8) == "");
  CHECK(said_of_json(one(R"("dtype":"F4","shape":[3,2],"data_offsets":[0,3])"), 3) == "");
  CHECK(said_of_json(one(R"("dtype":"BOOL","shape":[7,0,9],"data_offsets":[0,0])"), 0) == "");
  CHECK(
      said_of_json(
          R"({"__metadata__":{"a":"b"},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
          R"("e":{"dtype":"I8","shape":[0],"data_offsets":[1,1]},"y":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
          2) == "");

  std::string const json =
      R"({"\u00e9\ud83d\ude00\n\"":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]},"__metadata__":{"k":"v\\"}})";
  auto const c = e::parse_safetensors(json, static_cast<std::int64_t>(json.size()) + 16);
  REQUIRE(c.tensors.size() == 1);
  CHECK(c.tensors[0].name == "\xc3\xa9\xf0\x9f\x98\x80\n\"");
  CHECK(c.tensors[0].element == e::file_element::bf16);
  CHECK(c.tensors[0].extents == std::vector<std::int64_t>{4});
  CHECK(c.data_begin == static_cast<std::int64_t>(json.size()) + 8);
  REQUIRE(c.find_metadata("k") != nullptr);
  CHECK(*c.find_metadata("k") == "v\\");
  CHECK(c.find_metadata("K") == nullptr);
}

TEST_CASE("safetensors headers that are not") {
  CHECK(says(said_of_json("", 0), "begins with '{'"));
  CHECK(says(said_of_json("[]", 0), "begins with '{'"));
  CHECK(says(said_of_json(" {}", 0), "begins with '{'"));
  CHECK(says(said_of_json("null", 0), "begins with '{'"));
  CHECK(says(said_of_json("{", 0), "expected '\"'"));
  CHECK(says(said_of_json("{} {}", 0), "follows the header"));
  CHECK(says(said_of_json(std::string("{}") + '\0', 0), "follows the header"));
  CHECK(says(said_of_json("{\"a\"", 0), "expected ':'"));
  CHECK(says(said_of_json("{\"a\":1}", 0), "expected '{'"));
  CHECK(says(said_of_json("{\"a\":" + std::string(100'000, '['), 0), "expected '{'"));
  CHECK(says(said_of_json("{\"a\":" + std::string(100'000, '{'), 0), "expected '\"'"));
  CHECK(says(said_of_json(one("\"shape\":" + std::string(100'000, '[')), 0), "whole number"));
  CHECK(says(said_of_json(one(R"("dtype":"F32")"), 0), "lacks one of"));
  CHECK(says(said_of_json(one(""), 0), "expected '\"'"));
  CHECK(says(said_of_json(one(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), 4), "no dtype is called \"F31\""));
  CHECK(says(said_of_json(one(R"("dtype":"","shape":[1],"data_offsets":[0,16])"), 16), "no dtype is called"));
  CHECK(says(said_of_json(one(R"("dtype":32,"shape":[1],"data_offsets":[0,4])"), 4), "expected '\"'"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4), "appears twice"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1)"), 4), "nothing else"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1,],"data_offsets":[0,4])"), 4), "whole number"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4), "whole number"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4), "not whole"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1e0],"data_offsets":[0,4])"), 4), "not whole"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[01],"data_offsets":[0,4])"), 4), "begins with 0"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"), 4), "2^63"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,4])"), 4), "2^48"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0), "2^48"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[9223372036854775807,0],"data_offsets":[0,0])"), 0), "2^48"));
  CHECK(says(said_of_json(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), 1), "last byte"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4), "at most 2"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[4])"), 4), "two numbers"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4), "within the file"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 3), "within the file"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807])"), 8),
             "within the file"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4), "another length"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 5), "belong to no tensor"));
  CHECK(says(said_of_json(one(R"("dtype":"F32","shape":[1],"data_offsets":[1,5])"), 5), "overlap, or bytes between"));
  CHECK(says(said_of_json(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                          6),
             "overlap"));
  CHECK(says(said_of_json(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                          8),
             "the key \"a\" appears twice"));
  CHECK(says(said_of_json(R"({"__metadata__":{},"__metadata__":{}})", 0), "appears twice"));
  CHECK(says(said_of_json(R"({"__metadata__":{"k":"a","k":"b"}})", 0), "appears twice"));
  CHECK(says(said_of_json(R"({"__metadata__":{"k":1}})", 0), "expected '\"'"));
  CHECK(says(said_of_json(R"({"__metadata__":{"k":{}}})", 0), "expected '\"'"));
  std::string many = "\"dtype\":\"F32\",\"shape\":[0";
  for (int i = 0; i < 40; ++i) many += ",1";
  CHECK(says(said_of_json(one(many + "],\"data_offsets\":[0,0]"), 0), "at most 32"));
}

TEST_CASE("strings that are no JSON") {
  auto const named = [](std::string const& name) {
    return "{\"" + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  };
  CHECK(said_of_json(named("\xf4\x8f\xbf\xbf \xee\x80\x80 \\/\\b\\f\\t\\r"), 0) == "");
  for (char const* wrong : {"\xff", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80", "\xe2\x82"})
    CHECK(says(said_of_json(named(wrong), 0), "not UTF-8"));
  CHECK(says(said_of_json(named("\n"), 0), "control character"));
  CHECK(says(said_of_json(named("\\x41"), 0), "does not know"));
  CHECK(says(said_of_json(named("\\u12G4"), 0), "four hexadecimal"));
  CHECK(says(said_of_json(named("\\ud800"), 0), "surrogate"));
  CHECK(says(said_of_json(named("\\ud800\\u0041"), 0), "surrogate"));
  CHECK(says(said_of_json(named("\\udc00"), 0), "surrogate"));
  CHECK(says(said_of_json("{\"a", 0), "does not end"));
  CHECK(says(said_of_json("{\"a\\", 0), "does not know"));
  CHECK(says(said_of_json("{\"a\\u00", 0), "four hexadecimal"));
}

TEST_CASE("the length of a safetensors header") {
  auto const said = [](std::string const& first, std::int64_t bytes) -> std::string {
    try {
      return std::to_string(e::safetensors_header_bytes(first, bytes));
    } catch (e::malformed_header const& error) {
      return error.what();
    }
  };
  CHECK(said(std::string("\x02\0\0\0\0\0\0\0", 8), 10) == "10");
  CHECK(says(said("", 0), "shorter than 8"));
  CHECK(says(said("1234567", 7), "shorter than 8"));
  CHECK(says(said(std::string("\x03\0\0\0\0\0\0\0", 8), 10), "ends before"));
  CHECK(says(said(std::string(8, '\xff'), 1000), "claims 18446744073709551615 bytes"));
  CHECK(says(said(std::string("\0\0\0\0\0\0\0\x80", 8), 1000), "claims 9223372036854775808 bytes"));
  CHECK(says(said(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8), std::int64_t(1) << 40), "allows 100000000"));
}

TEST_CASE("npy headers") {
  for (int major : {1, 2, 3})
    CHECK(said_of_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", major), 24) == "");
  CHECK(said_of_npy(npy("{'shape': (), \"descr\": \"|b1\", 'fortran_order': True}"), 1) == "");
  CHECK(said_of_npy(npy("{'descr':'>c16','fortran_order':False,'shape':(2L, 0L)}"), 0) == "");
  CHECK(said_of_npy(npy("{'descr':'<V2','fortran_order':False,'shape':(2,)}"), 4) == "");
  CHECK(said_of_npy(npy("{'descr':'|V2','fortran_order':False,'shape':(2,)}"), 4) == "");

  auto const file = npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n");
  auto const c = e::parse_npy(file, static_cast<std::int64_t>(file.size()) + 12);
  CHECK(c.tensors[0].element == e::file_element::i16);
  CHECK(c.tensors[0].other_order);
  CHECK(c.tensors[0].column_major);
  CHECK(c.tensors[0].extents == std::vector<std::int64_t>{2, 3});

  auto const with = [](std::string const& descr, std::string const& order, std::string const& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n");
  };
  CHECK(says(said_of_npy("", 0), "does not begin"));
  CHECK(says(said_of_npy("PK\x03\x04 an archive, .npz", 0), "does not begin"));
  CHECK(says(said_of_npy("\x93NUMPY\x01", 0), "does not begin"));
  CHECK(says(said_of_npy(std::string("\x93NUMPY\x02\0\xff\xff", 10), 0), "ends before"));
  CHECK(says(said_of_npy(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), 0), "claims 4294967295 bytes"));
  CHECK(says(said_of_npy(std::string("\x93NUMPY\x01\0\xff\xff", 10), 0), "claims 65535 bytes, but the file ends"));
  CHECK(says(said_of_npy(npy("{}", 4), 0), "is of 4.0"));
  CHECK(says(said_of_npy(npy("{}", 0), 0), "is of 0.0"));
  CHECK(says(said_of_npy(npy("{}"), 0), "lacks one of"));
  CHECK(says(said_of_npy(npy("[]"), 0), "expected '{'"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(2, 3)"), 23), "24 bytes, and 23 follow"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(2, 3)"), 25), "24 bytes, and 25 follow"));
  CHECK(says(said_of_npy(with("'<f4'", "0", "(2, 3)"), 24), "True or False"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(2)"), 8), "no tuple"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "2"), 8), "expected '('"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(2 3)"), 24), "no tuple"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(2, 3 4)"), 24), "expected ',' or ')'"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(-1,)"), 24), "whole number"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(((((("), 24), "whole number"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(9223372036854775808,)"), 24), "2^63"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(4294967296, 4294967296)"), 0), "2^48"));
  CHECK(says(said_of_npy(with("'<f4'", "False", "(0, 9223372036854775807)"), 0), "2^48"));
  for (char const* descr : {"'O'", "'|O'", "'<U4'", "'f4'", "'=f4'", "'<f5'", "''", "'<'", "'|f4'", "'>V2'", "'<V4'"})
    CHECK(says(said_of_npy(with(descr, "False", "(0,)"), 0),
               descr == std::string_view("'>V2'") ? "no order" : "none of a tensor"));
  CHECK(says(said_of_npy(with("[('a', '<f4')]", "False", "(0,)"), 0), "records"));
  CHECK(says(said_of_npy(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}"), 4),
             "appears twice"));
  CHECK(says(said_of_npy(npy("{'descr': '<f4', 'more': 1, 'fortran_order': False, 'shape': ()}"), 4), "nothing else"));
  CHECK(says(said_of_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"), 4), "follows the header"));
  CHECK(says(said_of_npy(npy("{'descr': '<f4"), 4), "does not end"));
}

TEST_CASE("what is written is read") {
  e::file_contents c;
  c.metadata = {{"mesh", "X=2 \xc2\xb7 Y=3"}, {"quote", "\"\\\x01"}};
  c.tensors = {{"small", e::file_element::i8, {3}},
               {"w", e::file_element::f64, {2, 0}},
               {"layers.0.w", e::file_element::f32, {}}};
  std::string const header = e::make_safetensors_header(c);
  CHECK(header.size() % 8 == 0);
  CHECK(header.substr(0, 8) == length_of(header.substr(8)));
  CHECK(c.tensors[2].begin == 0);  // aligned: large elements first
  CHECK(c.tensors[0].begin == 4);
  auto const again = e::parse_safetensors(header.substr(8), static_cast<std::int64_t>(header.size()) + 7);
  CHECK(*again.find_metadata("quote") == "\"\\\x01");
  CHECK(again.tensors[0].name == "layers.0.w");
}

TEST_CASE("indexes: values of other keys are of any kind, and skipped") {
  auto const said = [](std::string const& text) -> std::string {
    try {
      static_cast<void>(e::parse_safetensors_index(text));
      return "";
    } catch (e::malformed_header const& error) {
      return error.what();
    }
  };
  auto const with = [&](std::string const& value) { return said("{\"metadata\":" + value + ",\"weight_map\":{}}"); };
  for (char const* value : {"1", "-1", "0.5", "1e5", "1E-5", "1.25e+10", "true", "false", "null", "\"\\n\"", "[]", "{}",
                            "[1,[2,{\"a\":[3]}],\"x\"]", "{\"a\":{\"b\":{}},\"c\":[]}", " [ 1 , { \"a\" : 2 } ] "})
    CHECK(with(value).empty());
  for (char const* value : {"", "-", "1.", "1e", "tru", "[1", "[1,]", "{1:2}", "{\"a\"}", "{\"a\":}", "[}", "{]", "[1}",
                            "\"", "nan", "'a'", "{\"a\":1,}", "]"})
    CHECK(!with(value).empty());
  CHECK(with(std::string(32, '[') + std::string(32, ']')).empty());
  CHECK(says(with(std::string(33, '[') + std::string(33, ']')), "brackets stand more than 32 within each other"));
  CHECK(says(said("{}"), "weight_map"));
  CHECK(says(said("{\"weight_map\":{\"a\":\"x.safetensors\",\"a\":\"y.safetensors\"}}"), "appears twice"));
}

TEST_CASE("mutations of good files") {
  e::file_contents c;
  c.metadata = {{"mesh", "X=2"}, {"w.axes", "in/X, hidden"}};
  c.tensors = {
      {"w", e::file_element::f32, {2, 3}}, {"b", e::file_element::boolean, {5}}, {"e", e::file_element::bf16, {0, 4}}};
  std::vector<std::string> const tensors = {e::make_safetensors_header(c) + std::string(29, 'x'),
                                            std::string("\x02\0\0\0\0\0\0\0{}", 10)};
  for (std::string const& s : tensors) CHECK(t::try_safetensors(s));
  std::int64_t const taken = accepted(tensors, 60'000, t::try_safetensors);
  CHECK(taken > 100);  // some changes are harmless
  CHECK(taken < 30'000);

  std::vector<std::string> const arrays = {
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n") + std::string(24, 'x'),
      npy("{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }\n", 2) + std::string(5, 'x')};
  for (std::string const& s : arrays) CHECK(t::try_npy(s));
  std::int64_t const taken_arrays = accepted(arrays, 60'000, t::try_npy);
  CHECK(taken_arrays > 100);
  CHECK(taken_arrays < 30'000);

  std::vector<std::string> const indexes = {
      R"({"metadata":{"total_size":1.5e+3,"more":[{"a":null},[],{},-1,true]},"weight_map":{"a":"x.safetensors",)"
      R"("b":"y.safetensors","c":"x.safetensors"}})",
      R"({"weight_map":{}})", R"( { "weight_map" : { "a.b" : "m-1-of-1.safetensors" } , "x" : "y" } )"};
  for (std::string const& s : indexes) CHECK(t::try_index(s));
  std::int64_t const taken_indexes = accepted(indexes, 60'000, t::try_index);
  CHECK(taken_indexes > 100);
  CHECK(taken_indexes < 30'000);
}
