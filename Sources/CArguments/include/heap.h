#ifndef HEAP_H
#define HEAP_H

#include <stdlib.h>
#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

// Gives pages of the heap back to the system on which nothing lies. The C library as Swift sees it lacks this call; there is nothing to
// call where it is not the GNU one.
static inline void trim_heap(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// What a piece takes, in bytes: at least what was asked for. None takes nothing.
static inline size_t heap_size(void *piece) {
#ifdef __APPLE__
  return malloc_size(piece);
#else
  return malloc_usable_size(piece);
#endif
}

#endif
