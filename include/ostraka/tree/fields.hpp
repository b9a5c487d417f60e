// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The fields of a plain struct: their number, references to them, and their names. C++20 has no reflection.
/// Fields are counted by the number of initialisers that the struct takes, and bound by structured bindings, up to 16.
/// Their names are read from the compiler's spelling of their addresses. A struct with more fields, or one that is not
/// an aggregate, lists them itself:
///
///     static constexpr auto fields() { return std::tuple{os::field("w1", &mlp::w1), os::field("b1", &mlp::b1)}; }

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ostraka {

/// One field in the list of a struct that lists its fields.
template <class Pointer>
struct field {
  std::string_view name;  ///< the name of the field
  Pointer pointer;        ///< a pointer to the member

  constexpr field(std::string_view called, Pointer to) : name(called), pointer(to) {}
};

namespace detail {

inline constexpr int most_fields = 16;

template <class S>
concept lists_fields = requires {
  S::fields();
};

// Can initialise every field; used only in unevaluated expressions.
struct any_field {
  template <class T>
  operator T() const;
};

// Converts only to bases of S.
template <class S>
struct any_base {
  template <class B>
    requires(std::is_base_of_v<B, S> && !std::is_same_v<B, S>)
  operator B() const;
};

template <class S, std::size_t... Is>
consteval bool takes(std::index_sequence<Is...>) {
  return requires { S{(static_cast<void>(Is), any_field{})...}; };
}

// True if S takes `Before` initialisers, then two in braces, then `After`.
template <class S, std::size_t... Before, std::size_t... After>
consteval bool takes_pair(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires {
    S{(static_cast<void>(Before), any_field{})...,
      {any_field{}, any_field{}},
      (static_cast<void>(After), any_field{})...};
  };
}

/// The number of fields, where each element of a C array counts as one. More than `most_fields` if there are more.
template <class S, int N = 0, bool Began = false>
consteval int count_fields() {
  if constexpr (N > most_fields + 1) {
    return N - 1;
  } else if constexpr (takes<S>(std::make_index_sequence<static_cast<std::size_t>(N)>{})) {
    return count_fields<S, N + 1, true>();
  } else if constexpr (Began) {
    return N - 1;
  } else {  // a field without a default needs all earlier ones
    return count_fields<S, N + 1, false>();
  }
}

template <class S>
inline constexpr bool has_base = requires {
  S{any_base<S>{}};
};

// True if a field is a C array. Two initialisers in braces initialise an array; its other elements then have no
// initialisers, and those of the following fields are too many. @pre S takes N initialisers
template <class S, int N, int At = 0>
consteval bool has_c_array() {
  if constexpr (At >= N)
    return false;
  else if constexpr (constexpr std::make_index_sequence<static_cast<std::size_t>(At)> before{};
                     takes_pair<S>(before, std::index_sequence<>{}) &&
                     !takes_pair<S>(before, std::make_index_sequence<static_cast<std::size_t>(N - At - 1)>{}))
    return true;
  else
    return has_c_array<S, N, At + 1>();
}

template <class S>
consteval int number_of_fields() {
  if constexpr (lists_fields<S>)
    return static_cast<int>(std::tuple_size_v<decltype(S::fields())>);
  else
    return count_fields<S>();
}

/// The number of fields in trees of this shape. @pre the shape has no fault
template <class S>
inline constexpr int fields_of = number_of_fields<S>();

/// The address of field I, in a list of them. A std::tuple of references would cost the compiler several classes for
/// each field of each tree.
template <int I, class T>
struct field_address {
  T* at;
};
template <class Is, class... Ts>
struct field_addresses;
template <int... Is, class... Ts>
struct field_addresses<std::integer_sequence<int, Is...>, Ts...> : field_address<Is, Ts>... {};

template <int I, class T>
constexpr T& field_in(field_address<I, T> const& address) {
  return *address.at;
}

struct to_addresses {
  template <class... Ts>
  constexpr auto operator()(Ts&... fields) const {
    using list = field_addresses<std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>, Ts...>;
    return list{{std::addressof(fields)}...};
  }
};

struct to_tuple {
  template <class... Ts>
  constexpr auto operator()(Ts&... fields) const {
    return std::tie(fields...);
  }
};

/// gather(fields of t…), for a struct with N fields.
template <int N, class T, class Gather>
constexpr auto bind_fields(T& t, Gather const& gather) {
  // clang-format off
  if constexpr (N == 0) { return gather(); }
  else if constexpr (N == 1) { auto& [a] = t; return gather(a); }
  else if constexpr (N == 2) { auto& [a, b] = t; return gather(a, b); }
  else if constexpr (N == 3) { auto& [a, b, c] = t; return gather(a, b, c); }
  else if constexpr (N == 4) { auto& [a, b, c, d] = t; return gather(a, b, c, d); }
  else if constexpr (N == 5) { auto& [a, b, c, d, e] = t; return gather(a, b, c, d, e); }
  else if constexpr (N == 6) { auto& [a, b, c, d, e, f] = t; return gather(a, b, c, d, e, f); }
  else if constexpr (N == 7) { auto& [a, b, c, d, e, f, g] = t; return gather(a, b, c, d, e, f, g); }
  else if constexpr (N == 8) { auto& [a, b, c, d, e, f, g, h] = t; return gather(a, b, c, d, e, f, g, h); }
  else if constexpr (N == 9) { auto& [a, b, c, d, e, f, g, h, i] = t; return gather(a, b, c, d, e, f, g, h, i); }
  else if constexpr (N == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = t;
    return gather(a, b, c, d, e, f, g, h, i, j);
  }
  else if constexpr (N == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k);
  }
  else if constexpr (N == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  else if constexpr (N == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  else if constexpr (N == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  else if constexpr (N == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = t;
    return gather(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
  // clang-format on
}

/// Field I of `t`, a tree of shape S.
template <class S, int I, class T>
constexpr auto& field_at(T& t) {
  if constexpr (lists_fields<S>)
    return t.*(std::get<static_cast<std::size_t>(I)>(std::remove_const_t<T>::fields()).pointer);
  else
    return field_in<I>(bind_fields<fields_of<S>>(t, to_addresses{}));
}

/// The type of field I in T.
template <class S, class T, int I>
using field_type = std::remove_reference_t<decltype(field_at<S, I>(std::declval<T&>()))>;

// ---- names ----------------------------------------------------------------------------------------------------------

template <class T>
struct unread {
  T value;
};

template <class Pointer>
struct address {
  Pointer value;
};

#if defined(__clang__)
#  pragma clang diagnostic push
#  pragma clang diagnostic ignored "-Wundefined-var-template"
#  pragma clang diagnostic ignored "-Wundefined-internal"
#endif

// Never defined: only addresses in it are spelled.
template <class S>
extern unread<S> const nowhere;

template <auto Address>
constexpr std::string_view spelled() {
  return __PRETTY_FUNCTION__;
}

template <class S, int I>
constexpr auto address_of_field() {
  auto const fields = bind_fields<fields_of<S>>(nowhere<S>.value, to_tuple{});
  return address<decltype(&std::get<static_cast<std::size_t>(I)>(fields))>{
      &std::get<static_cast<std::size_t>(I)>(fields)};
}

constexpr bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// The name of field `number` in such a spelling, after the one `value.` of unread:
//   g++          nowhere<…>.unread<…>::value.mlp<…>::w1)}; …     after the last ::
//   clang        nowhere.value.w1}]
//   nvcc's EDG   nowhere<…>.value.w1.b1.w2)) -8)}]               all fields in a row
constexpr std::string_view name_in(std::string_view text, int number) {
  text = text.substr(0, text.rfind('}'));
  std::string_view const before = "value.";
  text = text.substr(text.find(before, text.find("nowhere")) + before.size());
  if (std::size_t const scope = text.rfind("::"); scope != std::string_view::npos) text = text.substr(scope + 2);
  std::size_t next = text.find('.');
  for (; number > 0 && next != std::string_view::npos; --number, next = text.find('.')) text = text.substr(next + 1);
  std::size_t size = 0;
  while (size < text.size() && is_part_of_name(text[size])) ++size;
  return text.substr(0, size);
}

template <class S, int I>
constexpr std::string_view find_field_name() {
  if constexpr (lists_fields<S>)
    return std::get<static_cast<std::size_t>(I)>(S::fields()).name;
  else
    return name_in(spelled<address_of_field<S, I>()>(), I);
}

/// The name of field I in trees of shape S.
template <class S, int I>
inline constexpr std::string_view field_name = find_field_name<S, I>();

#if defined(__clang__)
#  pragma clang diagnostic pop
#endif

}  // namespace detail

}  // namespace ostraka
