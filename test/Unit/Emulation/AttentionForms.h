// Forms of attention that tests run on the emulated machine.
#pragma once

#include "AttentionCase.h"

namespace gpuopt {

inline Case sized(int64_t queries, int64_t keys, int64_t key_size = 64,
                  int64_t value_size = 0) {
  Case c;
  c.queries = queries;
  c.keys = keys;
  c.key_size = key_size;
  c.value_size = value_size ? value_size : key_size;
  return c;
}

// Heads of one projection, and their gradients in one.
inline Case fused(int64_t length, int64_t heads, int64_t size) {
  Case c = sized(length, length, size);
  c.batch[0] = 2;
  c.batch[1] = heads;
  c.is_fused = true;
  return c;
}

// Scores are about as large as the cap, so that slopes are anywhere from 0
// to 1.
inline Case capped(Case c, double cap = 1.5) {
  c.scale = 3 / std::sqrt(double(c.key_size));
  c.softcap = cap;
  return c;
}

inline Case grouped(Case c, int64_t heads) {
  c.batch[0] = c.batch[1] = 2;
  c.batch[2] = heads;
  c.shares_keys = true;
  return c;
}

inline Case banded(Case c, int64_t first, int64_t last) {
  c.first_key = first;
  c.last_key = last;
  return c;
}

inline Case with(Case::Extra extra, Case c, std::vector<int> broadcast = {}) {
  c.batch[0] = c.batch[1] = 2;
  c.extra = extra;
  for (int d : broadcast)
    c.is_broadcast[d] = true;
  return c;
}

inline Case masked(Case c, std::vector<int> broadcast = {}) {
  return with(Case::Extra::Mask, c, broadcast);
}

inline Case added(Case c, std::vector<int> broadcast = {}) {
  return with(Case::Extra::AddedMask, c, broadcast);
}

inline Case with_empty_rows(Case c, double value, bool zeroes_empty = false) {
  c.has_empty_rows = true;
  c.masked_value = value;
  c.zeroes_empty = zeroes_empty;
  return c;
}

inline Case biased(Case c, std::vector<int> broadcast = {}) {
  c.batch[0] = c.batch[1] = 2;
  c.batch[2] = c.shares_keys ? c.batch[2] : 2;
  c.has_bias = true;
  for (int d : broadcast)
    c.is_bias_broadcast[d] = true;
  return c;
}

// A mask that replaces scores by a number like the others. Without one, the
// gradients of a row's scores add up to 0, and so the sum over all keys is no
// test.
inline Case replaced(Case c) {
  c = masked(c);
  c.masked_value = -1;
  return c;
}

inline Case dropping(Case c, double ratio) {
  c.dropout = ratio;
  c.batch[0] = c.batch[1] = 2;
  return c;
}

// What lies between the rows of all tensors keeps the bytes that it had.
template <class T>
void expect_own_elements_alone(Case c) {
  c.gap = 3;
  c.shift = 5;
  const Places p(c);
  const Outputs<T> out = run(c, Inputs<T>(c));
  EXPECT_EQ(count_strangers(out.y, p.y, c, c.queries, c.value_size), 0);
  EXPECT_EQ(count_strangers(out.dq, p.q, c, c.queries, c.key_size), 0);
  EXPECT_EQ(count_strangers(out.dk, p.k, c, c.keys, c.key_size), 0);
  EXPECT_EQ(count_strangers(out.dv, p.v, c, c.keys, c.value_size), 0);
}

} // namespace gpuopt
