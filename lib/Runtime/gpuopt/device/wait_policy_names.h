// How threads of the host wait for the next kernel, by the names that users
// give. This file is C++17: the compiler checks the flag by it.
#pragma once

#include "gpuopt/device/list_text.h"

#include <iterator>
#include <optional>

namespace gpuopt {

enum class WaitPolicy { Auto, Active, Passive };

// In the order of the enum.
inline constexpr std::string_view kWaitPolicyNames[] = {"auto", "active",
                                                        "passive"};

constexpr std::optional<WaitPolicy> find_wait_policy(std::string_view name) {
  for (size_t i = 0; i < std::size(kWaitPolicyNames); i++)
    if (name == kWaitPolicyNames[i])
      return WaitPolicy(i);
  return std::nullopt;
}

constexpr std::string_view name_of(WaitPolicy policy) {
  return kWaitPolicyNames[size_t(policy)];
}

// Returns "auto, active or passive, but is 'activ'; did you mean 'active'?".
inline std::string wrong_wait_policy(const std::string &name) {
  return wrong_choice(name, kWaitPolicyNames, std::size(kWaitPolicyNames));
}

} // namespace gpuopt
