/* The page of a report, made of explain/page by tools/embed-page: what stands before and behind its
 * data. */
#ifndef EXPLAIN_PAGE_H
#define EXPLAIN_PAGE_H

#include <stddef.h>

extern const char page_head[], page_tail[];
extern const size_t page_head_len, page_tail_len;

#endif
