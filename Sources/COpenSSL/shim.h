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

/// `SSL_set_tlsext_host_name` is a macro over SSL_ctrl.
static inline long shim_SSL_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

static const uint64_t shim_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t shim_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t shim_SSL_OP_IGNORE_UNEXPECTED_EOF = SSL_OP_IGNORE_UNEXPECTED_EOF;

// For Credentials: keys, certificate chains and memory buffers.

static inline EVP_PKEY *shim_generate_rsa(size_t bits) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
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
