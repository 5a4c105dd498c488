/* The hash index of base, under the name by which shard knows it. */
#ifndef SHARD_INDEX_H
#define SHARD_INDEX_H

#include "base/index.h"

#endif
