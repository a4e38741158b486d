/* The least that a push service for event streams can be: `GET /events?token=00000007` is answered with a head and kept, and
   `POST /3/device/00000007` goes to whoever has the token, as one event. No checks, no memory of anything, no limits; for
   requests that come whole, from a client that means well. The reference of `fleet_streams.py`. Prints its port. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOKENS 100000
static int readers[TOKENS];

static const char stream[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char done[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static void take(int client, char *request) {
  char event[8192], *body = strstr(request, "\r\n\r\n");
  if (!body) return;
  if (!strncmp(request, "GET /events?token=", 18)) {
    readers[strtoul(request + 18, 0, 16) % TOKENS] = client;
    if (write(client, stream, sizeof stream - 1) < 0) close(client);
  } else if (!strncmp(request, "POST /3/device/", 15)) {
    int size = snprintf(event, sizeof event, "event: ping\ndata: %s\n\n", body + 4);
    char chunk[8300];
    int count = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", size, event);
    if (write(readers[strtoul(request + 15, 0, 16) % TOKENS], chunk, count) < 0) return;
    if (write(client, done, sizeof done - 1) < 0) close(client);
  }
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), loop = epoll_create1(0), on = 1;
  if (bind(listener, (void *)&address, length) || listen(listener, 4096)) return 1;
  getsockname(listener, (void *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(loop, events, 256, -1);
    for (int index = 0; index < count; index++) {
      int ready = events[index].data.fd;
      if (ready == listener) {
        int client = accept(listener, 0, 0);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = client};
        epoll_ctl(loop, EPOLL_CTL_ADD, client, &event);
        continue;
      }
      char request[8192];
      ssize_t size = read(ready, request, sizeof request - 1);
      if (size <= 0) {
        close(ready);
      } else {
        request[size] = 0;
        take(ready, request);
      }
    }
  }
}
