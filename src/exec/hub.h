/* A transport between executors of one process: what one hands in, the other copies.
 *
 * Several launches may go through one hub, each in parts that cover its positions. Parts that wait
 * for one another in different meetings are a deadlock once all of the launch have joined; a part
 * that never joins is waited for without end. */
#ifndef EXEC_HUB_H
#define EXEC_HUB_H

#include "device/executor.h"

/* mem NULL: mem_system; must outlive it. */
status hub_create(const allocator *mem, executor_transport **out_hub) MUST_USE;
void hub_destroy(executor_transport *hub); /* no launch uses it any longer; NULL is fine */

#endif
