// Loaded before the libraries of a program: makes the n-th of a kind of call fail, once. What is to fail stands in a file that
// FAILING_CALLS names and both sides map, so the program's tormentor may count calls, and change its mind, while it runs.
//
// Calls are counted while `armed` is not 0. Memory is refused to OpenSSL, nghttp2, libevent and SQLite only: Swift ends the
// process when it gets none, by design.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

// In the order of CALLS in torture.py.
enum {
  READ, WRITE, RECV, SEND, ACCEPT, OPEN, FSYNC, FDATASYNC, PREAD, PWRITE, RENAME, SOCKET, LISTEN, EPOLL_CTL,
  MEMORY, TLS_NEW, TLS_SET_FD, TLS_HANDSHAKE, TLS_READ, TLS_WRITE, TLS_SHUTDOWN, CALLS
};

struct control {
  int64_t armed;
  // 0: none fails.
  int64_t fail_at[CALLS];
  int64_t error;
  int64_t count[CALLS];
  // The counts at which calls were made to fail.
  int64_t struck[CALLS];
};

static struct control *control;

struct range {
  uintptr_t start, end;
};

#define MOST_RANGES 32
static struct range ranges[MOST_RANGES];
static int range_count;

static int add_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  static const char *const names[] = {"/libssl", "/libcrypto", "/libnghttp2", "/libevent", "/libsqlite3",
                                      "/libexpat"};
  for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
    if (!strstr(info->dlpi_name, names[name])) continue;
    for (int part = 0; part < info->dlpi_phnum && range_count < MOST_RANGES; part++) {
      const ElfW(Phdr) *header = &info->dlpi_phdr[part];
      if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
      uintptr_t start = info->dlpi_addr + header->p_vaddr;
      ranges[range_count++] = (struct range){start, start + header->p_memsz};
    }
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAILING_CALLS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  dl_iterate_phdr(add_library, NULL);
  void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) control = mapped;
}

// Whether this call is the one that fails.
static int strikes(int call) {
  struct control *now = control;
  if (!now || !now->armed) return 0;
  int64_t number = __atomic_add_fetch(&now->count[call], 1, __ATOMIC_RELAXED);
  if (now->fail_at[call] != number) return 0;
  now->struck[call] = number;
  errno = (int)now->error;
  return 1;
}

static int is_library(const void *caller) {
  uintptr_t address = (uintptr_t)caller;
  for (int index = 0; index < range_count; index++)
    if (address >= ranges[index].start && address < ranges[index].end) return 1;
  return 0;
}

#define NEXT(name) \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAILING(call, result, name, parameters, arguments, failed) \
  result name parameters { \
    NEXT(name); \
    if (strikes(call)) return failed; \
    return next arguments; \
  }

FAILING(READ, ssize_t, read, (int file, void *bytes, size_t count), (file, bytes, count), -1)
FAILING(WRITE, ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count), -1)
FAILING(RECV, ssize_t, recv, (int file, void *bytes, size_t count, int flags), (file, bytes, count, flags), -1)
FAILING(SEND, ssize_t, send, (int file, const void *bytes, size_t count, int flags), (file, bytes, count, flags), -1)
FAILING(ACCEPT, int, accept, (int file, struct sockaddr *address, socklen_t *size), (file, address, size), -1)
FAILING(
  ACCEPT, int, accept4, (int file, struct sockaddr *address, socklen_t *size, int flags), (file, address, size, flags), -1)
FAILING(FSYNC, int, fsync, (int file), (file), -1)
FAILING(FDATASYNC, int, fdatasync, (int file), (file), -1)
FAILING(PREAD, ssize_t, pread, (int file, void *bytes, size_t count, off_t at), (file, bytes, count, at), -1)
FAILING(PREAD, ssize_t, pread64, (int file, void *bytes, size_t count, off64_t at), (file, bytes, count, at), -1)
FAILING(PWRITE, ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at), -1)
FAILING(PWRITE, ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at), -1)
FAILING(RENAME, int, rename, (const char *from, const char *to), (from, to), -1)
FAILING(SOCKET, int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
FAILING(LISTEN, int, listen, (int file, int backlog), (file, backlog), -1)
FAILING(
  EPOLL_CTL, int, epoll_ctl, (int poll, int operation, int file, struct epoll_event *event),
  (poll, operation, file, event), -1)

#define FAILING_OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return strikes(OPEN) ? -1 : next(path, flags, mode); \
  }

#define FAILING_OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return strikes(OPEN) ? -1 : next(folder, path, flags, mode); \
  }

FAILING_OPEN(open)
FAILING_OPEN(open64)
FAILING_OPENAT(openat)
FAILING_OPENAT(openat64)

// The C library's own, as looking them up by name would need memory.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

#define REFUSED() (is_library(__builtin_return_address(0)) && strikes(MEMORY))

void *malloc(size_t count) { return REFUSED() ? NULL : __libc_malloc(count); }
void *calloc(size_t count, size_t size) { return REFUSED() ? NULL : __libc_calloc(count, size); }
void *realloc(void *bytes, size_t count) { return REFUSED() ? NULL : __libc_realloc(bytes, count); }

// OpenSSL without its headers: what these point to is not looked at.
void *SSL_new(void *);
int SSL_set_fd(void *, int);
int SSL_do_handshake(void *);
int SSL_read(void *, void *, int);
int SSL_write(void *, const void *, int);
int SSL_shutdown(void *);

FAILING(TLS_NEW, void *, SSL_new, (void *context), (context), NULL)
FAILING(TLS_SET_FD, int, SSL_set_fd, (void *tls, int file), (tls, file), 0)
FAILING(TLS_HANDSHAKE, int, SSL_do_handshake, (void *tls), (tls), -1)
FAILING(TLS_READ, int, SSL_read, (void *tls, void *bytes, int count), (tls, bytes, count), -1)
FAILING(TLS_WRITE, int, SSL_write, (void *tls, const void *bytes, int count), (tls, bytes, count), -1)
FAILING(TLS_SHUTDOWN, int, SSL_shutdown, (void *tls), (tls), -1)
