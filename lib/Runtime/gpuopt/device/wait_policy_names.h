// How threads of the host wait for the next kernel, by the names that users
// give. This file is C++17: the compiler checks the flag by it.
#pragma once

#include <optional>
#include <string_view>

namespace gpuopt {

enum class WaitPolicy { Auto, Active, Passive };

// In the order of the enum, and in a sentence.
inline constexpr std::string_view kWaitPolicyNames[] = {"auto", "active",
                                                        "passive"};
inline constexpr std::string_view kWaitPolicyList = "auto, active or passive";

constexpr std::optional<WaitPolicy> find_wait_policy(std::string_view name) {
  for (int i = 0; i < 3; i++)
    if (name == kWaitPolicyNames[i])
      return WaitPolicy(i);
  return std::nullopt;
}

} // namespace gpuopt
