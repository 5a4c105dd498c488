/* Messages without bytes from one process to another of its machine, in memory that both see: a
 * ring that one writes and the other reads. Nobody is woken by it (window.h has a bell). Each side
 * under a lock of its own. */
#ifndef NET_LANE_H
#define NET_LANE_H

#include <stdatomic.h>

#include "net/wire.h"

enum { LANE_LENGTH = 256 };
typedef struct lane { /* zeros: an empty one */
  _Alignas(64) atomic_ullong written;
  _Alignas(64) atomic_ullong read;
  _Alignas(64) wire_head heads[LANE_LENGTH];
} lane;

bool lane_put(lane *l, const wire_head *h) MUST_USE; /* false: it is full */
/* The first that has not been taken; NULL: there is none. It stays until lane_take. */
const wire_head *lane_first(const lane *l);
void lane_take(lane *l);

#endif
