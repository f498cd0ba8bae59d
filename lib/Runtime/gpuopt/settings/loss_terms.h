// --loss: what a training minimises. Of several losses, it is their sum, each
// taken by its weight.
//
//   --loss mse
//   --loss logits:cross_entropy --loss aux:mse:0.3
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/settings/compile_table.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace gpuopt {

// Returns the dimension that counts the classes in logits of some dimensions:
// the last one or, as in PyTorch, dimension 1 of more than three.
constexpr int class_dim(int rank) { return rank > 3 ? 1 : rank - 1; }

struct LossTerm {
  std::string output; // of the model; empty: that of --logits, or the first one
  std::string loss;   // a name of kLosses
  double weight = 1;
};

// Returns the name of the input that has the labels of an output, in a program
// with several losses.
inline std::string labels_of(const std::string &output) {
  return "labels." + output;
}

namespace detail {
inline bool is_loss(const std::string &name) {
  for (std::string_view known : compile_time::kLosses)
    if (name == known)
      return true;
  return false;
}

// Takes what stands behind the last colon off a text; returns false if there is
// no colon.
inline bool take_last(std::string &text, std::string &last) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return false;
  last = text.substr(colon + 1);
  text.resize(colon);
  return true;
}

// Returns what is wrong with a weight, as the words after it; or nothing.
inline std::string parse_loss_weight(const std::string &text, double &weight) {
  char *end = nullptr;
  weight = read_number(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(weight) || weight <= 0)
    return "needs a weight above 0 behind the loss, but has '" + text + "'";
  return "";
}
} // namespace detail

// Reads LOSS, OUTPUT:LOSS or OUTPUT:LOSS:WEIGHT. Names of outputs may have
// colons, so it is read from behind. Returns what is wrong, as the words after
// "--loss 'TEXT'", or nothing.
inline std::string parse_loss_term(const std::string &text, LossTerm &term) {
  term = {};
  std::string rest = text, last;
  const bool has_colon = detail::take_last(rest, last);
  if (!has_colon)
    last = text, rest.clear();
  if (!detail::is_loss(last) && has_colon) {
    std::string before = rest, loss;
    if (!detail::take_last(before, loss))
      loss = before, before.clear();
    if (detail::is_loss(loss)) {
      if (std::string why = detail::parse_loss_weight(last, term.weight);
          !why.empty())
        return why;
      last = loss, rest = before;
    }
  }
  term.output = rest, term.loss = last;
  if (!detail::is_loss(last))
    return "needs a loss, " +
           list_text(compile_time::kLosses, std::size(compile_time::kLosses)) +
           ", as LOSS or OUTPUT:LOSS or OUTPUT:LOSS:WEIGHT" +
           choice_hint(last, compile_time::kLosses,
                       std::size(compile_time::kLosses));
  if (has_colon && rest.empty())
    return "needs the name of an output before the loss";
  return "";
}

// Returns "aux:mse:0.3".
inline std::string loss_term_text(const LossTerm &term) {
  return term.output + ":" + term.loss + ":" + number_text(term.weight);
}

} // namespace gpuopt
