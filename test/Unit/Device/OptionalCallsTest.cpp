// How the calls of layers that only some of them make become one sequence.

#include "OptionalCalls.h"

#include "gtest/gtest.h"
#include <random>

using namespace gpuopt::device;

namespace {

std::vector<unsigned> itemsOf(const std::string &text) {
  return {text.begin(), text.end()};
}

bool isPart(const std::vector<unsigned> &part,
            const std::vector<unsigned> &whole) {
  size_t next = 0;
  for (unsigned item : whole)
    next += next < part.size() && part[next] == item;
  return next == part.size();
}

TEST(OptionalCalls, MergesSequencesInTheirOrder) {
  EXPECT_EQ(mergeSequences(itemsOf("abc"), itemsOf("bxc")), itemsOf("abxc"));
  EXPECT_EQ(mergeSequences(itemsOf("ab"), itemsOf("ab")), itemsOf("ab"));
  EXPECT_EQ(mergeSequences({}, itemsOf("ab")), itemsOf("ab"));
  EXPECT_EQ(mergeSequences(itemsOf("ab"), itemsOf("ba")).size(), 3u);
}

TEST(OptionalCalls, MergesAsShortAsSearchCan) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<unsigned> one, other;
    for (auto *items : {&one, &other})
      for (unsigned i = random() % 5; i > 0; --i)
        items->push_back(random() % 3);
    std::vector<unsigned> merged = mergeSequences(one, other);
    EXPECT_TRUE(isPart(one, merged) && isPart(other, merged));
    // No shorter sequence of the three items has both as parts.
    unsigned count = 1;
    for (size_t length = 0; length < merged.size(); ++length, count *= 3)
      for (unsigned code = 0; code < count; ++code) {
        std::vector<unsigned> shorter;
        for (unsigned rest = code, i = 0; i < length; ++i, rest /= 3)
          shorter.push_back(rest % 3);
        EXPECT_FALSE(isPart(one, shorter) && isPart(other, shorter));
      }
  }
}

TEST(OptionalCalls, FindsAPartInTheWhole) {
  auto found = findPart(itemsOf("ac"), itemsOf("abc"));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], 0u);
  EXPECT_FALSE(found[1]);
  EXPECT_EQ(found[2], 1u);
}

TEST(OptionalCalls, CountsTheLastItemsThatAreAPart) {
  EXPECT_EQ(countLastWithin(itemsOf("xac"), itemsOf("abc")), 2u);
  EXPECT_EQ(countLastWithin(itemsOf("abcx"), itemsOf("abc")), 0u);
  EXPECT_EQ(countLastWithin({}, itemsOf("abc")), 0u);
}

} // namespace
