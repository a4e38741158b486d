#pragma once

// Has the processor load memory into its cache that will be read or written soon. Harmless for any address.
static inline void prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
