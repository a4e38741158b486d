#pragma once
// First: libevent's configuration switches on another variant of this header.
#include <sys/select.h>
#include <event2/event.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/bufferevent.h>
#include <event2/util.h>
