/* terrazzo layout: what its files share. */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include "cli.h"
#include "mesh/describe.h"

/* Comma lists of an option: "2,1,2"; "a,(b,c),None". `field` names it in errors. */
bool layout_parse_numbers(arena *a, const char *field, const char *text, i64s *out);
bool layout_parse_names(arena *a, const char *field, const char *text, layout_entry *out);
bool layout_parse_entries(arena *a, const char *field, const char *text,
                          const layout_entry **entries, size_t *num_entries);
bool layout_parse_number(const char *field, const char *text, i64 *out);

/* The facts, the three steps of the derivation, and which device holds which piece. */
void layout_show(arena *a, buf *out, const grid_view *v, bool color);
/* The way from v's layout to another of a tensor of v's shape. false: said so. */
bool layout_show_move(arena *a, buf *out, const grid_view *v, const layout *to, i64 element_size,
                      bool json, diag_sink *sink);

#endif
