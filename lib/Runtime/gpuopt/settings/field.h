// What a flag sets, and the numbers that it can be set to.
//
// This file is C++17, as the compiler is.
#pragma once

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gpuopt {

// The member of a struct of settings that a flag sets; none if a flag has a
// syntax of its own.
template <class S>
struct FieldOf {
  // nvcc writes a pointer to a member that has no name of its type in
  // parentheses, of which g++ warns.
  template <class T>
  using Member = T S::*;

  Member<double> number = nullptr;
  Member<int64_t> integer = nullptr;
  Member<uint64_t> natural = nullptr;
  Member<bool> toggle = nullptr;
  Member<std::string> text = nullptr;
  Member<std::vector<std::string>> texts = nullptr; // may be repeated
  Member<int64_t> choice = nullptr;                 // one of `names`
  // The names of a choice, or those that a flag with a syntax of its own takes
  // besides numbers.
  const std::string_view *names = nullptr;
  int64_t count = 0; // of names
  // A word that may stand for an integer's value, in place of digits.
  std::string_view word = "";
  int64_t value_of_word = 0;

  constexpr FieldOf() = default;
  constexpr FieldOf(double S::*member) : number(member) {}
  constexpr FieldOf(int64_t S::*member) : integer(member) {}
  constexpr FieldOf(uint64_t S::*member) : natural(member) {}
  constexpr FieldOf(bool S::*member) : toggle(member) {}
  constexpr FieldOf(std::string S::*member) : text(member) {}
  constexpr FieldOf(std::vector<std::string> S::*member) : texts(member) {}
  template <class Names>
  constexpr FieldOf(int64_t S::*member, const Names &names)
      : choice(member), names(std::data(names)), count(std::size(names)) {}
  // Returns a field without a member, some of whose values have names.
  template <class Names>
  static constexpr FieldOf with_names(const Names &names) {
    return FieldOf(nullptr, names);
  }
  static constexpr FieldOf
  integer_or_word(int64_t S::*member, std::string_view word, int64_t value) {
    FieldOf field(member);
    field.word = word;
    field.value_of_word = value;
    return field;
  }
  // A member of a base of S is one of S. Only members that there are get
  // converted: nvcc 13.0 crashes on the conversion of null in a constant.
  template <class Base>
  constexpr FieldOf(const FieldOf<Base> &field)
      : names(field.names), count(field.count), word(field.word),
        value_of_word(field.value_of_word) {
    if (field.number)
      number = field.number;
    if (field.integer)
      integer = field.integer;
    if (field.natural)
      natural = field.natural;
    if (field.toggle)
      toggle = field.toggle;
    if (field.text)
      text = field.text;
    if (field.texts)
      texts = field.texts;
    if (field.choice)
      choice = field.choice;
  }
};

// The range of the numbers that a flag can have.
struct Range {
  static constexpr double kMostOfFloat = 1e38;
  double least = 0, most = kMostOfFloat;
  bool without_least = false, without_most = false;

  constexpr bool has(double x) const {
    return (without_least ? x > least : x >= least) &&
           (without_most ? x < most : x <= most);
  }
  // "at least 0 and below 1"
  std::string text(bool is_whole) const {
    char low[40], high[40] = "";
    snprintf(low, sizeof low, without_least ? "more than %g" : "at least %g",
             least);
    if (most != kMostOfFloat || !is_whole)
      snprintf(high, sizeof high,
               without_most ? " and below %g" : " and at most %g", most);
    return std::string(low) + high;
  }
};
constexpr Range at_least(double least, double most = Range::kMostOfFloat) {
  return {least, most, false, false};
}
constexpr Range above(double least, double most = Range::kMostOfFloat) {
  return {least, most, true, false};
}
constexpr Range kBelow1{0, 1, false, true};

} // namespace gpuopt
