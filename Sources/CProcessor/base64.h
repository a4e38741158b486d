#pragma once

// Base64, 24 bytes and 32 characters at a time, with the vector instructions AVX2. Each function does as much as it can
// from the beginning, none of it where the processor has no such instructions, and answers how many bytes or characters
// of its input that was; whoever calls does the rest.

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define BASE64_VECTORS __attribute__((target("avx2")))

// The same sixteen bytes in both halves, as shuffles want them.
BASE64_VECTORS static inline __m256i base64_twice(
    char a, char b, char c, char d, char e, char f, char g, char h,
    char i, char j, char k, char l, char m, char n, char o, char p) {
  return _mm256_setr_epi8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
}

// Reads up to 28 bytes for 24, and writes what it answers, times four thirds.
BASE64_VECTORS static inline size_t base64_encode_vectors(const uint8_t *input, size_t count, uint8_t *output) {
  // A word of each three bytes a b c: b a c b, so that every digit lies within one half of it.
  const __m256i spread = base64_twice(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
  // What is added to a digit: by how far it lies above 51, or 13 for all that lie below 26.
  const __m256i distance = base64_twice(
      'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
      '+' - 62, '/' - 63, 'A', 0, 0);
  size_t at = 0;
  for (; at + 28 <= count; at += 24, output += 32) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(input + at));
    const __m128i high = _mm_loadu_si128((const __m128i *)(input + at + 12));
    const __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), spread);
    // First and third digit of a word go down, by 10 and by 6; second and fourth go up, by 4 and by 8.
    const __m256i down = _mm256_mulhi_epu16(
        _mm256_and_si256(words, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
    const __m256i up = _mm256_mullo_epi16(
        _mm256_and_si256(words, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
    const __m256i digits = _mm256_or_si256(down, up);
    const __m256i above = _mm256_subs_epu8(digits, _mm256_set1_epi8(51));
    const __m256i capital = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), digits), _mm256_set1_epi8(13));
    const __m256i text = _mm256_add_epi8(digits, _mm256_shuffle_epi8(distance, _mm256_or_si256(above, capital)));
    _mm256_storeu_si256((__m256i *)output, text);
  }
  return at;
}

// Ends before the first 32 characters that are not all digits of the standard alphabet. Writes three quarters of what it
// answers, and eight bytes of rubbish behind.
BASE64_VECTORS static inline size_t base64_decode_vectors(const uint8_t *text, size_t count, uint8_t *output) {
  // A character is a digit if no bit is set in both of what its halves stand for: one for each kind of upper half.
  const __m256i by_upper = base64_twice(16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16);
  const __m256i by_lower = base64_twice(21, 17, 17, 17, 17, 17, 17, 17, 17, 17, 19, 26, 27, 27, 27, 26);
  // What is added to a character, by its upper half; one before that for a slash.
  const __m256i distance = base64_twice(
      0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i nibble = _mm256_set1_epi8(15);
  // Three bytes of each word, in the order that they have in memory.
  const __m256i gather = base64_twice(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
  size_t at = 0;
  for (; at + 32 <= count; at += 32, output += 24) {
    const __m256i characters = _mm256_loadu_si256((const __m256i *)(text + at));
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi32(characters, 4), nibble);
    const __m256i lower = _mm256_and_si256(characters, nibble);
    if (!_mm256_testz_si256(_mm256_shuffle_epi8(by_upper, upper), _mm256_shuffle_epi8(by_lower, lower))) break;
    const __m256i slash = _mm256_cmpeq_epi8(characters, _mm256_set1_epi8('/'));
    const __m256i digits =
        _mm256_add_epi8(characters, _mm256_shuffle_epi8(distance, _mm256_add_epi8(slash, upper)));
    // Two digits make twelve bits, two of those make twenty-four.
    const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi32(0x01400140));
    const __m256i words = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
    const __m256i bytes = _mm256_permutevar8x32_epi32(
        _mm256_shuffle_epi8(words, gather), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
    _mm256_storeu_si256((__m256i *)output, bytes);
  }
  return at;
}

static inline int base64_has_vectors(void) { return __builtin_cpu_supports("avx2") != 0; }

static inline size_t base64_encode_most(const uint8_t *input, size_t count, uint8_t *output) {
  return count >= 28 && base64_has_vectors() ? base64_encode_vectors(input, count, output) : 0;
}

static inline size_t base64_decode_most(const uint8_t *text, size_t count, uint8_t *output) {
  return count >= 32 && base64_has_vectors() ? base64_decode_vectors(text, count, output) : 0;
}
#else
static inline size_t base64_encode_most(const uint8_t *input, size_t count, uint8_t *output) { return 0; }
static inline size_t base64_decode_most(const uint8_t *text, size_t count, uint8_t *output) { return 0; }
#endif
