#pragma once
// OpenSSL 3. The inline functions wrap macros, which Swift cannot call.
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/pkcs12.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/rand.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/bio.h>
#include <openssl/asn1.h>
#include <openssl/core_names.h>
#include <openssl/bn.h>
#include <openssl/param_build.h>

/// `SSL_set_tlsext_host_name` is a macro over SSL_ctrl.
static inline long shim_SSL_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

static const uint64_t shim_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t shim_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t shim_SSL_OP_IGNORE_UNEXPECTED_EOF = SSL_OP_IGNORE_UNEXPECTED_EOF;

// For Credentials: keys, certificate chains and memory buffers.

/// A prime that fits RSA's exponent 65537, and that prime less one. 0 for a failure.
static inline int shim_rsa_prime(BIGNUM *prime, BIGNUM *less_one, int bits, BN_CTX *context) {
  do {
    if (!BN_generate_prime_ex2(prime, bits, 0, NULL, NULL, NULL, context)) return 0;
    if (!BN_sub(less_one, prime, BN_value_one())) return 0;
  } while (BN_mod_word(less_one, RSA_F4) == 0);
  return 1;
}
/// A key of two primes. EVP_PKEY_Q_keygen looks for them by FIPS 186-4, for which OpenSSL 3.0 takes almost three times as long; whoever
/// starts the emulator in a new folder would wait for that five times. NULL for a failure.
static inline EVP_PKEY *shim_generate_rsa(int bits) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *numbers = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  BN_CTX *context = BN_CTX_new();
  if (builder == NULL || maker == NULL || context == NULL) goto done;
  BN_CTX_start(context);
  BIGNUM *n = BN_CTX_get(context), *e = BN_CTX_get(context), *d = BN_CTX_get(context);
  BIGNUM *p = BN_CTX_get(context), *p_less_one = BN_CTX_get(context), *dp = BN_CTX_get(context);
  BIGNUM *q = BN_CTX_get(context), *q_less_one = BN_CTX_get(context), *dq = BN_CTX_get(context);
  BIGNUM *totient = BN_CTX_get(context), *inverse_of_q = BN_CTX_get(context);
  // Once one is missing, those behind it are, too.
  int has_primes =
      inverse_of_q != NULL && BN_set_word(e, RSA_F4) &&
      shim_rsa_prime(p, p_less_one, bits - bits / 2, context) && shim_rsa_prime(q, q_less_one, bits / 2, context);
  // The larger one is the first, as OpenSSL has them: some libraries take no other keys.
  if (has_primes && BN_cmp(p, q) < 0) {
    BN_swap(p, q);
    BN_swap(p_less_one, q_less_one);
  }
  if (has_primes && BN_mul(n, p, q, context) && BN_mul(totient, p_less_one, q_less_one, context) &&
      BN_mod_inverse(d, e, totient, context) && BN_mod(dp, d, p_less_one, context) &&
      BN_mod(dq, d, q_less_one, context) && BN_mod_inverse(inverse_of_q, q, p, context) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_D, d) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_FACTOR1, p) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_FACTOR2, q) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_EXPONENT1, dp) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_EXPONENT2, dq) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, inverse_of_q) &&
      (numbers = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(maker) > 0 &&
      EVP_PKEY_fromdata(maker, &key, EVP_PKEY_KEYPAIR, numbers) <= 0)
    key = NULL;
  BN_CTX_end(context);
done:
  OSSL_PARAM_free(numbers);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(maker);
  BN_CTX_free(context);
  return key;
}
static inline EVP_PKEY *shim_generate_p256(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
static inline STACK_OF(X509) *shim_chain_new(void) { return sk_X509_new_null(); }
/// Takes its own reference to `certificate`.
static inline int shim_chain_append(STACK_OF(X509) *chain, X509 *certificate) {
  if (!X509_up_ref(certificate)) return 0;
  if (sk_X509_push(chain, certificate) > 0) return 1;
  X509_free(certificate);
  return 0;
}
/// The caller owns it; NULL when there is none left.
static inline X509 *shim_chain_take_first(STACK_OF(X509) *chain) {
  return chain == NULL ? NULL : sk_X509_shift(chain);
}
static inline void shim_chain_free(STACK_OF(X509) *chain) { sk_X509_pop_free(chain, X509_free); }
static inline size_t shim_bio_contents(BIO *bio, const unsigned char **start) {
  char *data = NULL;
  long count = BIO_get_mem_data(bio, &data);
  *start = (const unsigned char *)data;
  return data == NULL || count < 0 ? 0 : (size_t)count;
}
static inline void shim_free(void *memory) { OPENSSL_free(memory); }
