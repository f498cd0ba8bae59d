//===- LoraNames.cpp - Where a model has an adapter's weights -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraNames.h"

#include <algorithm>
#include <set>

using namespace gpuopt;

static bool startsWith(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

namespace {

/// What is taken off the front of all names of an adapter, and what is put
/// there, to have the names of a model. One of both is empty.
struct Renaming {
  std::string removed, added;

  bool operator<(const Renaming &other) const {
    return removed != other.removed ? removed < other.removed
                                    : added < other.added;
  }
  std::string ofModel(const std::string &name) const {
    return added + name.substr(removed.size());
  }
  std::string ofAdapter(const std::string &name) const {
    return removed + name.substr(added.size());
  }
};

class NameMatcher {
public:
  NameMatcher(const std::vector<std::string> &weights,
              const std::vector<std::vector<std::string>> &initializers)
      : weights(weights), initializers(initializers) {
    for (const auto &names : initializers)
      own[names.front()] = names.front();
    for (const auto &names : initializers)
      for (const std::string &name : names)
        own.emplace(name, names.front());
  }

  MatchedNames match() const {
    MatchedNames result;
    if (missingUnder({}).size() < weights.size()) {
      take({}, result);
      return result;
    }
    std::vector<Renaming> complete;
    result.missing = weights;
    for (const Renaming &renaming : candidates()) {
      std::vector<std::string> missing = missingUnder(renaming);
      if (missing.empty())
        complete.push_back(renaming);
      if (2 * missing.size() < weights.size() &&
          missing.size() < result.missing.size())
        result.missing = missing;
    }
    if (complete.empty())
      return result;
    result.missing.clear();
    std::vector<Renaming> certain;
    for (const Renaming &renaming : complete)
      if (contradictionTo(renaming).empty())
        certain.push_back(renaming);
    if (certain.size() == 1)
      take(certain[0], result);
    else
      result.problem = explain(complete);
    return result;
  }

private:
  /// Returns how the name of one weight at least is made one of the model's.
  std::set<Renaming> candidates() const {
    std::set<Renaming> all;
    for (const std::string &weight : weights)
      for (const auto &[name, initializer] : own) {
        if (endsWith(name, "." + weight))
          all.insert({"", name.substr(0, name.size() - weight.size())});
        else if (endsWith(weight, "." + name))
          all.insert({weight.substr(0, weight.size() - name.size()), ""});
      }
    return all;
  }

  std::vector<std::string> missingUnder(const Renaming &renaming) const {
    std::vector<std::string> missing;
    for (const std::string &weight : weights)
      if (!startsWith(weight, renaming.removed) ||
          !own.count(renaming.ofModel(weight)))
        missing.push_back(weight);
    return missing;
  }

  /// Returns a parameter of the model that contradicts a renaming: modules
  /// around the model would have put the added names in front of this one, too,
  /// and the removed ones would not be there.
  std::string contradictionTo(const Renaming &renaming) const {
    for (const auto &names : initializers) {
      const bool isParameter = endsWith(names.front(), ".weight") ||
                               endsWith(names.front(), ".bias");
      const std::string &front =
          renaming.removed.empty() ? renaming.added : renaming.removed;
      const bool hasFront =
          std::any_of(names.begin(), names.end(),
                      [&](auto &name) { return startsWith(name, front); });
      if (isParameter && hasFront != renaming.removed.empty())
        return names.front();
    }
    return "";
  }

  /// Takes the names under a renaming. Modules around the model may have names
  /// of their own for its weights, which the adapter knows nothing of.
  void take(const Renaming &renaming, MatchedNames &result) const {
    result.missing = missingUnder(renaming);
    std::set<std::string> changed;
    for (const std::string &weight : weights)
      if (startsWith(weight, renaming.removed))
        if (auto found = own.find(renaming.ofModel(weight)); found != own.end())
          changed.insert(found->second);
    for (const auto &[name, initializer] : own)
      if (changed.count(initializer) && startsWith(name, renaming.added))
        result.byInitializer[initializer].push_back(renaming.ofAdapter(name));
  }

  /// Says why none of these renamings, which find all weights, is certain.
  std::string explain(const std::vector<Renaming> &renamings) const {
    const std::string &first = weights.front();
    const std::string found = renamings[0].ofModel(first);
    if (renamings.size() > 1)
      return "'" + first + "' of the adapter could be '" + found + "' or '" +
             renamings[1].ofModel(first) +
             "' of the model: expects a model with the names of the adapter";
    return "'" + first + "' of the adapter could be '" + found +
           "' of the model, but the name of '" + contradictionTo(renamings[0]) +
           "' does not differ in the same way: expects a model with the "
           "names of the adapter";
  }

  const std::vector<std::string> &weights;
  const std::vector<std::vector<std::string>> &initializers;
  std::map<std::string, std::string> own; ///< By any name, the initializer's.
};

} // namespace

MatchedNames
gpuopt::matchNames(const std::vector<std::string> &weights,
                   const std::vector<std::vector<std::string>> &initializers) {
  return NameMatcher(weights, initializers).match();
}
