/* Which device holds which piece: in the terminal, and as SVG. */
#include "mesh/describe.h"

enum { MAX_CELLS = 256, MAX_COLUMNS_DRAWN = 16, MAX_SVG_CELLS = 4096, MAX_IDS = 8 };

/* Sheets of rows and columns; slices are numbered row-major, so a sheet is a run of them. */
typedef struct sheets {
  const slice_grid *grid;
  const char *device;
  u32 row, column; /* dimensions; NONE where no dimension is split */
  i64 rows, columns, per_sheet;
  const i64 *positions; /* by slice */
} sheets;
static const u32 NONE = UINT32_MAX;

/* Positions by slice are made once for the whole picture; print_ids then is an index. */
static void make_sheets(arena *a, const slice_grid *g, const char *device, sheets *out) {
  u32 found[2] = {NONE, NONE}, n = 0;
  for (u32 d = g->sharding->rank; d-- > 0 && n < 2;)
    if (g->strategy[d] > 1) found[n++] = d;
  *out = (sheets){.grid = g, .device = device, .row = found[1], .column = found[0]};
  out->rows = out->row == NONE ? 1 : g->strategy[out->row];
  out->columns = out->column == NONE ? 1 : g->strategy[out->column];
  out->per_sheet = out->rows * out->columns;
  i64 *positions = ARENA_ARRAY(a, i64, (size_t)g->sharding->mesh->size);
  slice_groups(a, g, positions);
  out->positions = positions;
}

/* The two last dimensions that are split make a sheet, the others number sheets. */
static void print_axes(buf *out, const sheets *s) {
  if (s->row != NONE) buf_printf(out, "dimension %u down, ", s->row);
  if (s->column != NONE) buf_printf(out, "dimension %u across", s->column);
}

/* Which pieces of the other dimensions a sheet is of. */
static void print_sheet_name(buf *out, const sheets *s, i64 first) {
  const slice_grid *g = s->grid;
  for (u32 d = 0, at = 0; d < g->sharding->rank; d++) {
    if (g->strategy[d] == 1 || d == s->row || d == s->column) continue;
    i64 weight = 1;
    for (u32 k = d + 1; k < g->sharding->rank; k++) weight *= g->strategy[k];
    buf_printf(out, "%sdimension %u: piece %lld", at++ ? ", " : "", d,
               (long long)(first / weight % g->strategy[d]));
  }
}

static str print_ids(arena *a, const sheets *s, i64 slice) {
  i64 replicas = s->grid->replicas, shown = min_i64(replicas, MAX_IDS);
  str text = {0};
  for (i64 i = 0; i < shown; i++)
    text = arena_printf(
        a, STR_FMT "%s%lld", STR_ARG(text), i ? "," : "",
        (long long)mesh_device_at(s->grid->sharding->mesh, s->positions[slice * replicas + i]));
  return shown < replicas ? arena_printf(a, STR_FMT ",...", STR_ARG(text)) : text;
}

/* ---- the terminal ---- */

static void draw_line(buf *out, const char *left, const char *cross, const char *right, i64 columns,
                      int width) {
  buf_printf(out, "  %s", left);
  for (i64 c = 0; c < columns; c++) {
    for (int i = 0; i < width + 2; i++) BUF_LIT(out, "─");
    buf_printf(out, "%s", c + 1 < columns ? cross : right);
  }
  buf_char(out, '\n');
}

static void draw_sheet(arena *a, buf *out, const sheets *s, i64 first, bool color) {
  int width = 0;
  str *cells = ARENA_ARRAY(a, str, (size_t)s->per_sheet);
  for (i64 i = 0; i < s->per_sheet; i++) {
    str ids = print_ids(a, s, first + i);
    cells[i] =
        arena_printf(a, "slice %lld: %s " STR_FMT, (long long)(first + i), s->device, STR_ARG(ids));
    if ((int)cells[i].len > width) width = (int)cells[i].len;
  }
  draw_line(out, "┌", "┬", "┐", s->columns, width);
  for (i64 r = 0; r < s->rows; r++) {
    if (r) draw_line(out, "├", "┼", "┤", s->columns, width);
    BUF_LIT(out, "  │");
    for (i64 c = 0; c < s->columns; c++) {
      i64 i = r * s->columns + c;
      buf_char(out, ' ');
      if (color) buf_printf(out, "\x1b[3%dm", 1 + (int)((first + i) % 6));
      buf_printf(out, "%-*.*s", width, STR_ARG(cells[i]));
      if (color) BUF_LIT(out, "\x1b[0m");
      BUF_LIT(out, " │");
    }
    buf_char(out, '\n');
  }
  draw_line(out, "└", "┴", "┘", s->columns, width);
}

bool picture_text(arena *a, buf *out, const slice_grid *g, const char *device, bool color) {
  sheets s;
  if (g->num_slices > MAX_CELLS || g->sharding->mesh->size > PLACEMENT_MAX_LISTED) return false;
  make_sheets(a, g, device, &s);
  if (s.columns > MAX_COLUMNS_DRAWN) return false;
  buf_printf(out, "Which %s holds which piece", device);
  if (s.column != NONE) {
    BUF_LIT(out, " (");
    print_axes(out, &s);
    buf_char(out, ')');
  }
  buf_char(out, '\n');
  for (i64 first = 0; first < g->num_slices; first += s.per_sheet) {
    if (g->num_slices > s.per_sheet) {
      BUF_LIT(out, "  ");
      print_sheet_name(out, &s, first);
      buf_char(out, '\n');
    }
    draw_sheet(a, out, &s, first, color);
  }
  return true;
}

/* ---- SVG ---- */

static void xml_text(buf *out, str s) {
  for (size_t i = 0; i < s.len; i++) {
    u8 c = (u8)s.data[i];
    if (c == '<')
      BUF_LIT(out, "&lt;");
    else if (c == '>')
      BUF_LIT(out, "&gt;");
    else if (c == '&')
      BUF_LIT(out, "&amp;");
    else if (c >= 0x20 && c < 0x7f)
      buf_char(out, (char)c);
    else
      buf_char(out, c == '\n' || c == '\t' ? ' ' : '?');
  }
}

enum { CELL_HEIGHT = 44, MARGIN = 16, LINE = 20 };

static void svg_cell(arena *a, buf *out, const sheets *s, i64 slice, i64 x, i64 y, i64 width) {
  str ids = print_ids(a, s, slice);
  /* neighbours differ: hues go round the circle by the golden angle */
  buf_printf(out,
             "<g><title>slice %lld: %s " STR_FMT "</title><rect x=\"%lld\" y=\"%lld\" "
             "width=\"%lld\" height=\"%d\" fill=\"hsl(%lld,60%%,85%%)\" stroke=\"#555\"/>",
             (long long)slice, s->device, STR_ARG(ids), (long long)x, (long long)y,
             (long long)width, CELL_HEIGHT, (long long)(slice * 137 % 360));
  buf_printf(out,
             "<text x=\"%lld\" y=\"%lld\" class=\"s\">slice %lld</text><text x=\"%lld\" "
             "y=\"%lld\">%s " STR_FMT "</text></g>\n",
             (long long)(x + width / 2), (long long)(y + 17), (long long)slice,
             (long long)(x + width / 2), (long long)(y + 35), s->device, STR_ARG(ids));
}

/* Measured first: the width of a cell follows from the longest list of ids. */
bool picture_svg(arena *a, buf *out, const slice_grid *g, const char *device, str title) {
  sheets s;
  if (g->num_slices > MAX_SVG_CELLS || g->sharding->mesh->size > PLACEMENT_MAX_LISTED) return false;
  make_sheets(a, g, device, &s);
  size_t most = 8;
  for (i64 i = 0; i < g->num_slices; i++) {
    size_t n = print_ids(a, &s, i).len + strlen(device) + 1;
    if (n > most) most = n;
  }
  i64 width = (i64)most * 8 + 16, sheets_drawn = g->num_slices / s.per_sheet;
  i64 sheet_height = s.rows * CELL_HEIGHT + LINE + (sheets_drawn > 1 ? LINE : 0);
  i64 full_width = max_i64(s.columns * width, (i64)title.len * 8) + 2 * MARGIN;
  i64 full_height = sheets_drawn * sheet_height + 2 * MARGIN + 2 * LINE;
  buf_printf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
             "font-family=\"monospace\" font-size=\"13\">\n<style>g text{text-anchor:middle}"
             ".s{font-weight:bold}</style>\n<rect width=\"100%%\" height=\"100%%\" "
             "fill=\"white\"/>\n<text x=\"%d\" y=\"%d\">",
             (long long)full_width, (long long)full_height, MARGIN, MARGIN + 12);
  xml_text(out, title);
  buf_printf(out, "</text>\n<text x=\"%d\" y=\"%d\" fill=\"#555\">", MARGIN, MARGIN + LINE + 12);
  print_axes(out, &s);
  BUF_LIT(out, "</text>\n");
  for (i64 k = 0; k < sheets_drawn && buf_ok(out); k++) {
    i64 y = MARGIN + 2 * LINE + k * sheet_height + LINE / 2;
    if (sheets_drawn > 1) {
      buf_printf(out, "<text x=\"%d\" y=\"%lld\">", MARGIN, (long long)(y + 12));
      print_sheet_name(out, &s, k * s.per_sheet);
      BUF_LIT(out, "</text>\n");
      y += LINE;
    }
    for (i64 i = 0; i < s.per_sheet; i++)
      svg_cell(a, out, &s, k * s.per_sheet + i, MARGIN + i % s.columns * width,
               y + i / s.columns * CELL_HEIGHT, width);
  }
  BUF_LIT(out, "</svg>\n");
  return true;
}
