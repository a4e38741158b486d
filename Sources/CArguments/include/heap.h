#ifndef HEAP_H
#define HEAP_H

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// Gives pages of the heap back to the system on which nothing lies. The C library as Swift sees it lacks this call; there is nothing to
// call where it is not the GNU one.
static inline void trim_heap(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

#endif
