#pragma once

// Asks the processor to bring memory near that will be read or written soon. Harmless for any address.
static inline void prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
