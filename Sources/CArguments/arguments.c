#include "arguments.h"

#include <stddef.h>

static int count;
static char **words;

// glibc and macOS hand `main`'s arguments to what runs before it, in programs linked statically too. They live as long as the process.
__attribute__((constructor)) static void keep(int argc, char **argv, char **environment) {
  (void)environment;
  count = argc;
  words = argv;
}

int started_with_count(void) { return count; }

const char *started_with(int place) { return place >= 0 && place < count ? words[place] : NULL; }
