// JSON as the trainer's files have it: what is written, and a parser of
// objects, strings, numbers and arrays of numbers.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/device/plain_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuopt {

// Returns the text in quotes, with escapes where JSON needs them.
inline std::string json_quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      quoted += c;
      continue;
    }
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", unsigned(c));
    quoted += code;
  }
  return quoted + "\"";
}

// Returns an object of strings, on one line.
inline std::string
json_object(const std::map<std::string, std::string> &members) {
  std::string text;
  for (const auto &[name, value] : members)
    text += (text.empty() ? "" : ",") + json_quoted(name) + ":" +
            json_quoted(value);
  return "{" + text + "}";
}

class JsonParser {
public:
  // Reads `size` characters. `complaint` is the text of the Error that is
  // thrown where they are not what the caller asks for.
  JsonParser(const char *text, size_t size, std::string complaint)
      : at(text), end(text + size), complaint(std::move(complaint)) {}

  // Calls `visit` with the name of each member; it reads the value.
  template <class Visit>
  void object(Visit visit) {
    const Level level(*this);
    expect('{');
    if (accept('}'))
      return;
    do {
      const std::string key = string();
      expect(':');
      visit(key);
    } while (accept(','));
    expect('}');
  }
  std::string string() {
    expect('"');
    std::string text;
    while (at < end && *at != '"')
      append_character(text);
    expect('"');
    return text;
  }
  std::vector<int64_t> integers() {
    std::vector<int64_t> values;
    expect('[');
    if (accept(']'))
      return values;
    do
      values.push_back(integer());
    while (accept(','));
    expect(']');
    return values;
  }
  // Reads an integer that is not negative.
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const char *start = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
      const int64_t digit = *at - '0';
      if (value > (INT64_MAX - digit) / 10)
        fail();
      value = value * 10 + digit;
    }
    if (at == start)
      fail();
    return value;
  }
  int64_t signed_integer() { return accept('-') ? -integer() : integer(); }
  double number() {
    skip_space();
    std::string text;
    while (at < end && std::string_view("0123456789+-.eE").find(*at) !=
                           std::string_view::npos)
      text += *at++;
    char *stop = nullptr;
    const double value = read_number(text.c_str(), &stop);
    if (text.empty() || *stop)
      fail();
    if (!std::isfinite(value))
      throw Error(complaint + ": the number " + text.substr(0, 40) +
                  " is too large");
    return value;
  }
  // Reads a number, or the numbers of an array, in which arrays may lie.
  void numbers(std::vector<double> &values) {
    if (!accept('['))
      return values.push_back(number());
    const Level level(*this);
    if (accept(']'))
      return;
    do
      numbers(values);
    while (accept(','));
    expect(']');
  }
  // Reads a value of any kind, and forgets it.
  void skip() {
    skip_space();
    if (at < end && *at == '{')
      return object([&](const std::string &) { skip(); });
    if (at < end && *at == '"')
      return void(string());
    if (accept('[')) {
      const Level level(*this);
      if (accept(']'))
        return;
      do
        skip();
      while (accept(','));
      return expect(']');
    }
    const char *start = at; // a number, true, false or null
    while (at < end &&
           std::string_view(",]} \n\r\t").find(*at) == std::string_view::npos)
      at++;
    if (at == start)
      fail();
  }
  [[noreturn]] void fail() const { throw Error(complaint); }

private:
  // An object or array that is being read. A limit on how deep they lie in each
  // other keeps a damaged file from taking all of the stack.
  struct Level {
    explicit Level(JsonParser &parser) : depth(parser.depth) {
      constexpr int kMostLevels = 100;
      if (++depth > kMostLevels)
        throw Error(parser.complaint + ": objects and arrays lie more than " +
                    std::to_string(kMostLevels) + " levels deep in each other");
    }
    ~Level() { depth--; }
    int &depth;
  };

  // Reads one character of a string, which may be escaped, and appends it in
  // UTF-8.
  void append_character(std::string &text) {
    if (*at != '\\') {
      text += *at++;
      return;
    }
    if (++at == end)
      fail();
    const char kind = *at++;
    constexpr std::string_view kEscaped = "\"\\/bfnrt",
                               kMeant = "\"\\/\b\f\n\r\t";
    if (kind == 'u')
      append_utf8(text, code_point());
    else if (const size_t i = kEscaped.find(kind); i != std::string_view::npos)
      text += kMeant[i];
    else
      fail();
  }
  // Reads what follows \u: four digits, or the two halves of a character above
  // U+FFFF ("surrogates").
  uint32_t code_point() {
    const uint32_t first = code_unit();
    if (first < 0xD800 || first > 0xDFFF)
      return first;
    if (first > 0xDBFF || end - at < 2 || at[0] != '\\' || at[1] != 'u')
      fail();
    at += 2;
    const uint32_t second = code_unit();
    if (second < 0xDC00 || second > 0xDFFF)
      fail();
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }
  uint32_t code_unit() {
    uint32_t value = 0;
    if (end - at < 4)
      fail();
    const auto [stop, error] = std::from_chars(at, at + 4, value, 16);
    if (error != std::errc() || stop != at + 4)
      fail();
    at = stop;
    return value;
  }
  static void append_utf8(std::string &text, uint32_t code) {
    if (code < 0x80) {
      text += char(code);
      return;
    }
    const int rest = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; // bytes
    text += char(0xFFu << (7 - rest) | code >> 6 * rest);
    for (int i = rest - 1; i >= 0; i--)
      text += char(0x80 | (code >> 6 * i & 0x3F));
  }
  void skip_space() {
    while (at < end &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
      at++;
  }
  bool accept(char c) {
    skip_space();
    if (at == end || *at != c)
      return false;
    at++;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail();
  }

  const char *at, *end;
  const std::string complaint;
  int depth = 0;
};

} // namespace gpuopt
