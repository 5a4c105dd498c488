/* Fusion: which elementwise ops share a loop, and the loops.
 *
 * In program order an op joins the open groups of its operands (merging them) if the shape is
 * the same and the sum stays small. Anything else that needs a value of an open group closes
 * it: one loop stores whatever of it is needed outside. What is cheaper to compute again than
 * to write and read (masks, converts, arithmetic on broadcast scalars) stays EXPR even then,
 * and later loops pull it in. Linear in the number of ops. */
#include "compile/lower.h"
#include "pass/refine.h"

/* Bounds of one loop: instructions keep to the block VM's scratch, loads and stores to its
 * tables; a value to be computed again is at most so much. */
enum { MAX_COST = 256, MAX_LOADS = 48, MAX_STORES = 32, MAX_CHEAP = 8 };

/* ---- groups ---- */

/* The group that g has become; shortens the way for the next one who asks. */
static group *find(group *g) {
  while (g && g->into) {
    if (g->into->into) g->into = g->into->into;
    g = g->into;
  }
  return g;
}

static void unlist(lower *L, group *g) {
  if (g->prev)
    g->prev->next = g->next;
  else
    L->open = g->next;
  if (g->next) g->next->prev = g->prev;
  g->open = false;
}

static group *new_group(lower *L) {
  group *g = ARENA_NEW(L->a, group);
  g->open = true;
  g->next = L->open;
  if (L->open) L->open->prev = g;
  L->open = g;
  return g;
}

static group *open_group(const node *n) {
  group *g = n->kind == NODE_EXPR ? find(n->group) : NULL;
  return g && g->open ? g : NULL;
}

static void append(group *g, node *n) {
  if (g->last)
    g->last->next = n;
  else
    g->first = n;
  g->last = n;
}

/* Both open. Neither reads what the other computes, so that the order of the joined list is
 * free. */
static group *merge(lower *L, group *to, group *from) {
  if (to == from) return to;
  unlist(L, from);
  from->into = to;
  if (from->first) {
    if (to->last)
      to->last->next = from->first;
    else
      to->first = from->first;
    to->last = from->last;
  }
  to->cost += from->cost;
  to->loads += from->loads;
  return to;
}

/* One loop has one iteration space: all nodes of a group have the same dims. */
static bool same_dims(const node *a, const node *b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(i64)) == 0);
}

static bool is_leaf_load(const node *n) {
  return (n->kind == NODE_MEM || n->kind == NODE_PIECES || n->kept) && !n->element;
}

/* Full-size reads are what make a value expensive to compute again. */
static u32 leaf_loads(const node *n, const node *of) {
  if (n->kept || n->kind == NODE_PIECES) return 1; /* without strides, of the loop's own shape */
  if (!is_leaf_load(n)) return 0;
  u64 elements = 1;
  for (u32 d = 0; d < n->rank; d++)
    if (n->stride[d] != 0) elements *= (u64)(n->dims[d] ? n->dims[d] : 1);
  return elements * dtype_size((dtype)n->type) * 4 > (u64)of->count * dtype_size((dtype)of->type);
}

/* Who needs it in memory had better get it from its group's loop. */
static bool is_cheap(const node *n) {
  return !n->heavy && !n->ahead && n->cost <= MAX_CHEAP &&
         (n->loads <= 1 || (n->leaf && n->pulled));
}

/* What n loads, if that is one and the same for all operands. */
static const node *only_leaf(const node *n) {
  const node *leaf = NULL;
  for (u32 i = 0; i < n->num_in; i++) {
    const node *in = n->in[i], *of_in = is_leaf_load(in) ? in : in->leaf;
    if (is_leaf_load(in) ? leaf_loads(in, n) == 0 : in->kind != NODE_EXPR || in->loads == 0)
      continue;
    if (!of_in || (leaf && leaf != of_in)) return NULL;
    leaf = of_in;
  }
  return leaf;
}

/* Whether o, in a loop behind n, had better find n in memory than compute it in each round. */
static bool wants_ahead(const op *o, const node *n) {
  const value *v = op_result(n->op, 0);
  if (o->parent == n->op->parent || !op_is(block_op(o->parent), while)) return false;
  if (select_is_elementwise(o) || lower_sums_up(o, v)) return n->loads && n->cost > 1;
  return !op_is(o, broadcast_in_dim);
}

/* Sums up what it takes to compute n from what lies in memory. */
static void weigh(node *n) {
  n->heavy = select_is_heavy(n->op);
  n->cost = 1;
  n->loads = 0;
  n->uniform = true;
  for (u32 i = 0; i < n->num_in; i++) {
    const node *in = n->in[i];
    n->apart |= in->kind == NODE_PIECES || (in->kind == NODE_EXPR && in->apart);
    n->uniform &= in->element || (in->kind == NODE_EXPR && in->uniform);
    n->loads += leaf_loads(in, n);
    if (in->kind != NODE_EXPR || in->kept) continue;
    n->heavy |= in->heavy;
    n->cost += in->cost;
    n->loads += in->loads;
  }
  n->leaf = only_leaf(n);
  n->pulled = true;
  n->ahead = false;
  for (const use *u = n->op->results[0].uses; u; u = u->next) {
    n->pulled &= select_is_elementwise(u->owner);
    n->ahead |= wants_ahead(u->owner, n);
  }
  if (n->cost > MAX_COST) n->cost = MAX_COST;
  if (n->loads > MAX_LOADS) n->loads = MAX_LOADS;
}

/* What n adds to a group that it joins. */
static u32 own_cost(const node *n) {
  u32 cost = 1;
  for (u32 i = 0; i < n->num_in; i++)
    if (n->in[i]->kind == NODE_EXPR && !open_group(n->in[i])) cost += n->in[i]->cost;
  return cost;
}
static u32 own_loads(const node *n) {
  u32 loads = 0;
  for (u32 i = 0; i < n->num_in; i++) {
    if (is_leaf_load(n->in[i])) loads++;
    if (n->in[i]->kind == NODE_EXPR && !open_group(n->in[i])) loads += n->in[i]->loads;
  }
  return loads;
}

/* Integers that follow from constants are such themselves: what is divided by one needs no
 * division.
 */
static bool becomes_constant(lower *L, node *n, op *o) {
  i64 in[3] = {0}, number;
  if (o->num_operands > COUNT(in)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const node *from = lower_node(L, o, i);
    if (!from->element || dtype_size((dtype)from->type) > sizeof(i64)) return false;
    memcpy(&in[i], from->element, dtype_size((dtype)from->type));
  }
  if (!refine_number(o, in, &number)) return false;
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  n->kind = NODE_CONST;
  n->element = arena_copy(L->a, &number, sizeof number);
  return true;
}

/* The operands' uses are served last. Until then a group that has to be closed on the way still
 * stores what o wants of it; once they are served, what only o wanted need not be stored at all. */
node *fuse_add(lower *L, op *o) {
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n || becomes_constant(L, n, o)) return n;
  n->kind = NODE_EXPR;
  n->op = o;
  n->num_in = o->num_operands;
  group *g = NULL;
  for (u32 i = 0; i < n->num_in; i++) {
    node *in = n->in[i] = lower_node(L, o, i);
    if (in->kind == NODE_EXPR && !same_dims(in, n)) fuse_settle(L, in);
    if (in->kind == NODE_PIECES && !same_dims(in, n)) pieces_write(L, in);
    group *h = open_group(in);
    if (!h || h == g) continue;
    if (g && (g->cost + h->cost > MAX_COST || g->loads + h->loads > MAX_LOADS)) {
      /* closing h may need nothing of g, so g stays open */
      fuse_close(L, h);
    } else {
      g = g ? merge(L, g, h) : h;
    }
  }
  if (g && (g->cost + own_cost(n) > MAX_COST || g->loads + own_loads(n) > MAX_LOADS)) {
    fuse_close(L, g);
    g = NULL;
  }
  if (!g) g = new_group(L);
  weigh(n);
  g->cost += own_cost(n);
  g->loads += own_loads(n);
  for (u32 i = 0; i < n->num_in; i++) lower_used(n->in[i]);
  n->group = g;
  append(g, n);
  return n;
}

/* One loop instead of two, which read much the same where they are parts of one step; long ones
 * would only wait for more memory at once. */
void fuse_together(lower *L, const node *a, const node *b) {
  enum { LONG = 1 << 14 };
  group *g = open_group(a), *h = open_group(b);
  if (g && h && same_dims(a, b) && a->count <= LONG && g->cost + h->cost <= MAX_COST &&
      g->loads + h->loads <= MAX_LOADS)
    merge(L, g, h);
}

/* The copy belongs to no group: it reads constants only, so any loop may pull it at any time. */
bool fuse_as_uniform(const node *in, node *n) {
  if (in->kind != NODE_EXPR || !in->uniform || !is_cheap(in)) return false;
  n->kind = NODE_EXPR;
  n->op = in->op;
  memcpy(n->in, in->in, sizeof n->in);
  n->num_in = in->num_in;
  n->cost = in->cost;
  n->uniform = true;
  return true;
}

static void become(node *n, const node *is) {
  node as = *is;
  as.rank = n->rank, as.dims = n->dims;
  as.pending = n->pending, as.result = n->result;
  as.stamp = 0;
  as.pulled = false;
  *n = as;
}

/* Its operands still have those dims: a loop looks at the strides of its own only. */
bool fuse_without_ones(lower *L, node *in, node *n) {
  fuse_close_of(L, in);
  bool cheap = !in->heavy && !in->apart && in->cost <= MAX_CHEAP && (in->loads <= 1 || in->leaf);
  if (in->kind == NODE_EXPR && !cheap) return false;
  become(n, in);
  return true;
}

bool fuse_is_small(const node *n) {
  enum { MOST = 4 };
  return !n->heavy && !n->apart && n->cost <= MOST && n->loads <= 1;
}

bool fuse_with_ones(lower *L, node *in, node *n) {
  if (in->kind != NODE_EXPR || in->apart || in->pending) return false;
  fuse_close_of(L, in);
  become(n, in);
  return true;
}

static void begin_group(lower *L, node *n) {
  weigh(n);
  n->group = new_group(L);
  n->group->cost = n->cost, n->group->loads = n->loads;
  append(n->group, n);
}

static bool is_alone(const node *n) {
  if (n->kind != NODE_EXPR || n->uniform) return true;
  bool alone = !n->op->results[0].uses->next;
  for (u32 i = 0; alone && i < n->num_in; i++) alone = is_alone(n->in[i]);
  return alone;
}

/* Of several arrays that it reads, more would be read across than one that is written so. What is
 * stored by itself had better not compute what others want too. */
bool fuse_turned(lower *L, node *in, node *n, const turned_how *how) {
  enum { MOST = 64 };
  if (in->kind != NODE_EXPR || in->uniform || in->apart || in->pending != 1) return false;
  if (in->op->results[0].uses->next) return false; /* others have it from the loop that stores it */
  if (how->stored ? (in->heavy || in->cost > MAX_CHEAP) && !is_alone(in)
                  : in->cost > MOST || (in->loads > 1 && !in->leaf))
    return false;
  node *before = lower_turned(L, in, how), *after;
  if (!before) return false;
  lower_used(in);
  fuse_close_of(L, in);
  after = lower_turned(L, in, how); /* of what others have in memory now, if they do */
  become(n, after ? after : before);
  if (!how->stored) begin_group(L, n);
  return true;
}

void fuse_computed_of(lower *L, node *in, node *n, node *of) {
  node as = *in;
  lower_used(in);
  as.dims = n->dims, as.count = n->count;
  as.pending = n->pending, as.result = n->result;
  as.in[0] = of;
  as.kept = false;
  as.next = NULL;
  as.stamp = 0;
  *n = as;
  begin_group(L, n);
}

/* ---- pulling code into a loop ---- */

/* A new stamp makes every node's `vm` that of another loop. So loops are built one after the
 * other: nobody pulls into the one before once this has been called. */
pull fuse_begin(lower *L, u32 rank, const i64 *dims, const u32 *perm) {
  lower_new_stamp(L);
  prog_loop *l = prog_add_loop(L->b, rank, dims, lower_name(L), lower_loc(L));
  return (pull){.L = L, .loop = l, .rank = rank, .perm = perm};
}

/* What is the same everywhere may have another shape than the loop (fuse_as_uniform), and the loop
 * dims of 1 behind those of the node (fuse_with_ones). */
static void permute(const pull *p, const node *n, i64 *out) {
  for (u32 d = 0; d < p->rank; d++) {
    u32 of = p->perm ? p->perm[d] : d;
    out[d] = of >= n->rank || n->uniform ? 0 : n->stride[of];
  }
}

/* Where in its slot, or at which index, the loop begins. */
static i64 first_offset(const pull *p, const node *n) {
  i64 offset = n->offset;
  for (u32 d = 0; p->at && d < n->rank; d++) offset += p->at[d] * n->stride[d];
  return offset;
}

/* A view that the loop reads already; PROG_NONE: none. */
static u32 same_input(const pull *p, u32 slot, i64 offset, const i64 *stride) {
  const prog_loop *l = p->loop;
  for (u32 i = 0; i < l->num_in && i < COUNT(p->loaded); i++)
    if (l->in[i].slot == slot && l->in[i].offset == offset &&
        memcmp(l->in[i].stride, stride, p->rank * sizeof(i64)) == 0)
      return p->loaded[i];
  return PROG_NONE;
}

static u32 pull_mem(pull *p, node *n) {
  i64 stride[PROG_MAX_DIMS] = {0};
  permute(p, n, stride);
  i64 offset = first_offset(p, n);
  u32 slot = n->slot == p->L->moved_from ? p->L->moved_to : n->slot;
  u32 known = same_input(p, slot, offset, stride);
  if (known != PROG_NONE) return known;
  u32 in = prog_loop_in(p->L->b, p->loop, slot, offset, stride);
  u32 v = vm_load(p->L->b, &p->loop->code, (dtype)n->type, in);
  if (in < COUNT(p->loaded)) p->loaded[in] = v;
  return v;
}

/* offset + sum of stride[d] * index d; in the type itself where nothing but one index is
 * there. */
static u32 pull_index(pull *p, node *n) {
  prog_builder *b = p->L->b;
  vm_code *c = &p->loop->code;
  i64 stride[PROG_MAX_DIMS], first = first_offset(p, n);
  permute(p, n, stride);
  u32 terms = 0, dim = 0;
  for (u32 d = 0; d < p->rank; d++)
    if (stride[d] != 0) terms++, dim = d;
  if (terms == 1 && first == 0 && stride[dim] == 1) return vm_iota(b, c, (dtype)n->type, dim);
  dtype t = lower_index_type((dtype)n->type, p->rank, p->loop->dims, stride, first);
  u32 sum = vm_const_bits(b, c, t, &first);
  for (u32 d = 0; d < p->rank; d++) {
    if (stride[d] == 0) continue;
    u32 term = vm_iota(b, c, t, d);
    if (stride[d] != 1)
      term = vm_emit(b, c, VM_mul, t, term, vm_const_bits(b, c, t, &stride[d]), 0);
    sum = vm_emit(b, c, VM_add, t, term, sum, 0);
  }
  return n->type == t ? sum : vm_emit(b, c, VM_convert, (dtype)n->type, sum, 0, 0);
}

static u32 pull_anew(pull *p, node *n);

/* Of the box that has all of the loop's. What a box is computed of, another value's box may be
 * computed of at another place. */
static u32 pull_piece(pull *p, const node *n) {
  const i64 *at = p->at;
  u32 stamp = p->L->stamp;
  i64 inside[PROG_MAX_DIMS];
  const piece *b = pieces_find(n, at);
  for (u32 d = 0; d < n->rank; d++) inside[d] = at[d] - b->at[d];
  p->at = inside;
  lower_new_stamp(p->L);
  u32 v = pull_anew(p, b->of);
  p->L->stamp = stamp;
  p->at = at;
  return v;
}

static u32 pull_anew(pull *p, node *n) {
  u32 v[3] = {0, 0, 0};
  vm_code *c = &p->loop->code;
  if (n->element) return vm_const_bits(p->L->b, c, (dtype)n->type, n->element);
  if (n->kind == NODE_MEM) return pull_mem(p, n);
  if (n->kind == NODE_INDEX) return pull_index(p, n);
  if (n->kind == NODE_PIECES) return pull_piece(p, n);
  for (u32 i = 0; i < n->num_in; i++) v[i] = fuse_pull(p, n->in[i]);
  return select_emit(p->L, c, n->op, v);
}

/* Recursion is as deep as a group is long: MAX_COST and what its cheap inputs add. */
u32 fuse_pull(pull *p, node *n) {
  if (n->stamp == p->L->stamp) return n->vm;
  n->vm = pull_anew(p, n);
  n->stamp = p->L->stamp;
  return n->vm;
}

/* ---- loops over boxes ---- */

typedef VEC(node *) node_list;

static void add_pieces(lower *L, node *n, node_list *out) {
  if (n->stamp == L->stamp) return;
  n->stamp = L->stamp;
  if (n->kind == NODE_PIECES) VEC_PUSH(L->a, *out, n);
  for (u32 i = 0; n->kind == NODE_EXPR && n->apart && i < n->num_in; i++)
    add_pieces(L, n->in[i], out);
}
/* All PIECES that these are made of. */
static node_list find_pieces(lower *L, node *const *n, u32 num) {
  node_list all = {0};
  lower_new_stamp(L);
  for (u32 i = 0; i < num; i++) add_pieces(L, n[i], &all);
  return all;
}

void fuse_join(lower *L, node *n) {
  node_list all = find_pieces(L, &n, 1);
  for (size_t i = 0; i < all.len; i++) pieces_write(L, all.data[i]);
}

/* Whether it is better to have a loop a box than to put PIECES together: few boxes of long rows;
 * and what could be computed in place in one loop only is not more than what would be written. */
static bool boxes_pay(node *const *out, u32 num_out, const node_list *all, cuts *c) {
  enum { MOST = 32, ROW = 16 };
  u32 boxes = 1, rank = out[0]->rank, moved = 0;
  for (u32 d = 0; d < rank; d++) {
    c->n[d] = 1;
    c->at[d][0] = 0, c->at[d][1] = out[0]->dims[d];
  }
  for (size_t i = 0; i < all->len; i++)
    if (!pieces_cut(all->data[i], c)) return false;
  for (u32 d = 0; d < rank && boxes <= MOST; d++) boxes *= c->n[d];
  for (u32 i = 0; i < num_out; i++) moved += out[i]->result == LATER_MOVED;
  u32 last = rank ? c->n[rank - 1] : 1;
  return boxes <= MOST && all->len > moved && out[0]->count &&
         (last == 1 || out[0]->dims[rank - 1] >= ROW * (i64)last);
}

/* In a loop of dims as boxes are: the one of these nodes that begins at `at`. */
static void store_box(pull *p, node *const *n, const prog_access *to, u32 num, const i64 *at) {
  u32 value[MAX_STORES];
  lower_new_stamp(p->L); /* of another box they are other values */
  p->at = at;
  for (u32 i = 0; i < num; i++) value[i] = fuse_pull(p, n[i]);
  for (u32 i = 0; i < num; i++) {
    i64 offset = to[i].offset;
    for (u32 d = 0; d < n[0]->rank; d++) offset += at[d] * to[i].stride[d];
    prog_loop_out(p->L->b, p->loop, to[i].slot, offset, to[i].stride, value[i]);
  }
}
void fuse_store_all(lower *L, node *const *n, const prog_access *to, u32 num) {
  static const i64 first[PROG_MAX_DIMS];
  pull p = fuse_begin(L, n[0]->rank, n[0]->dims, NULL);
  store_box(&p, n, to, num, first);
}

bool fuse_store_together(node *const *n, u32 num, u32 times) {
  u32 cost = 0, loads = 0;
  for (u32 i = 0; i < num; i++) cost += n[i]->cost, loads += n[i]->loads;
  return num * times <= MAX_STORES && cost * times <= MAX_COST && loads * times <= MAX_LOADS;
}

/* How many boxes that are side by side in rows one loop has: all, which read and write the same
 * cache lines, if they are alike. */
static u32 boxes_at_once(node *const *n, u32 num, const cuts *c) {
  u32 last = n[0]->rank - 1, boxes = c->n[last];
  for (u32 i = 0; i < boxes; i++)
    if (c->at[last][i + 1] - c->at[last][i] != c->at[last][1]) return 1;
  return fuse_store_together(n, num, boxes) ? boxes : 1;
}

/* Whether all who use n take one element each of its last, few ones. */
static bool is_taken_apart(const node *n) {
  enum { MOST = 4 };
  if (n->kind != NODE_EXPR || n->uniform) return false;
  const value *v = op_result(n->op, 0);
  i64 last = n->rank > 1 ? n->dims[n->rank - 1] : 1;
  for (const use *u = v->uses; u; u = u->next) {
    if (!op_is(u->owner, slice)) return false;
    i64s taken = op_result(u->owner, 0)->type->dims;
    if (taken.data[taken.len - 1] != 1) return false;
  }
  return v->uses && last > 1 && last <= MOST;
}

static bool are_taken_apart(node *const *n, u32 num) {
  for (u32 i = 0; i < num; i++)
    if (!is_taken_apart(n[i])) return false;
  return true;
}

/* Then a box has one each. */
static void cut_apart(const node *n, cuts *c) {
  u32 last = n->rank - 1;
  for (u32 d = 0; d <= last; d++) {
    c->n[d] = 1;
    c->at[d][0] = 0, c->at[d][1] = n->dims[d];
  }
  c->n[last] = (u32)n->dims[last];
  for (u32 i = 0; i <= c->n[last]; i++) c->at[last][i] = i;
}

/* These nodes, which all have one shape, in one loop; or one a box. */
static void store(lower *L, node *const *n, const prog_access *to, u32 num) {
  i64 at[PROG_MAX_DIMS] = {0}, dims[PROG_MAX_DIMS];
  u32 index[PROG_MAX_DIMS] = {0}, rank = n[0]->rank;
  cuts c;
  node_list all = find_pieces(L, n, num);
  if (all.len == 0 || !boxes_pay(n, num, &all, &c)) {
    for (size_t i = 0; i < all.len; i++) pieces_write(L, all.data[i]);
    if (!are_taken_apart(n, num)) {
      fuse_store_all(L, n, to, num);
      return;
    }
    cut_apart(n[0], &c);
  }
  u32 together = boxes_at_once(n, num, &c);
  for (;;) {
    for (u32 d = 0; d < rank; d++) {
      at[d] = c.at[d][index[d]];
      dims[d] = c.at[d][index[d] + 1] - at[d];
    }
    pull p = fuse_begin(L, rank, dims, NULL);
    store_box(&p, n, to, num, at);
    while (together > 1 && ++index[rank - 1] < together) {
      at[rank - 1] = c.at[rank - 1][index[rank - 1]];
      store_box(&p, n, to, num, at);
    }
    if (together > 1) index[rank - 1]--;
    u32 d = rank;
    while (d > 0 && ++index[d - 1] == c.n[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/* ---- closing ---- */

/* Then these lie one behind the other in rows, or where rows are short in all, each as the others'
 * neighbours do. */
static void put_apart(const node *n, i64 *stride) {
  enum { ROW = 32 };
  u32 last = n->rank - 1;
  i64 num = n->dims[last];
  bool by_rows = n->dims[last - 1] >= ROW;
  for (u32 d = by_rows ? last - 1 : 0; d < last; d++) stride[d] /= num;
  stride[last] = by_rows ? n->dims[last - 1] : n->count / num;
}

/* Stores these nodes. All values are pulled before any node becomes MEM: one that is already would
 * be read from the slot that this very loop writes. */
static void compute(lower *L, node *const *out, u32 num_out) {
  const op *at = L->at;
  prog_access *to = ARENA_ARRAY(L->a, prog_access, num_out);
  if (out[0]->kind == NODE_EXPR) L->at = out[num_out - 1]->op; /* named after its last op */
  const i64 *stride = lower_dense_strides(L, out[0]->rank, out[0]->dims);
  bool apart = are_taken_apart(out, num_out);
  for (u32 i = 0; i < num_out; i++) {
    to[i] = (prog_access){.slot = lower_new_slot(L, out[i])};
    if (out[0]->rank) memcpy(to[i].stride, stride, out[0]->rank * sizeof(i64));
    if (apart) put_apart(out[i], to[i].stride);
  }
  store(L, out, to, num_out);
  for (u32 i = 0; i < num_out; i++) {
    lower_make_dense(L, out[i], to[i].slot);
    if (!apart) continue;
    out[i]->stride = to[i].stride;
    out[i]->dense = false;
  }
  L->at = at;
}

/* What is still needed is what has uses that nobody has served (lower_used). So the order of the
 * two calls is a choice of the op that wants n:
 *
 *   close, then used   n is stored with its group: for an op that reads memory
 *   used, then close   n is stored only if others want it too. If not it stays EXPR, and the op
 *                      pulls or settles it: so concatenate, reduce and dynamic_update_slice
 *                      compute their operands on the way.
 *
 * What stays EXPR may be pulled at any time later, as slots are written once (lower.h). */
void fuse_close(lower *L, group *g) {
  node *out[MAX_STORES];
  u32 n = 0;
  unlist(L, g);
  bool any = false;
  for (node *m = g->first; m; m = m->next) {
    if (m->kind != NODE_EXPR) continue;
    bool cheap = is_cheap(m);
    if (any) weigh(m);
    cheap |= m->pulled && is_cheap(m); /* of what the group stores before it: 1 - tanh x */
    if (m->pending == 0 || (cheap && m->result < 0)) continue;
    any = m->kept = true;
    if (n == MAX_STORES) {
      compute(L, out, n);
      n = 0;
    }
    out[n++] = m;
  }
  if (n) compute(L, out, n);
}

/* Before control flow: what is outside must not be computed inside of a region that may not run. */
void fuse_close_all(lower *L) {
  while (L->open) fuse_close(L, L->open);
}

void fuse_drop_all(lower *L) {
  while (L->open) unlist(L, L->open);
}

void fuse_close_of(lower *L, node *n) {
  group *g = open_group(n);
  if (g) fuse_close(L, g);
}

/* Closing stores n unless it is cheap or its uses are served; then it gets a loop of its own. */
void fuse_settle(lower *L, node *n) {
  if (n->kind != NODE_EXPR) return;
  group *g = open_group(n);
  if (g) fuse_close(L, g);
  if (n->kind == NODE_EXPR) compute(L, &n, 1);
}

/* ---- into slots ---- */

/* Small splats lie in the program as constants, which costs no step. */
enum { MAX_SPLAT_BYTES = 512 };

/* Equal splats share a slot where the table still knows the other one; it forgets on a
 * collision. */
static bool constant_slot(lower *L, node *n) {
  size_t size = dtype_size((dtype)n->type);
  if (n->kind != NODE_CONST || (u64)n->count * size > MAX_SPLAT_BYTES) return false;
  u64 bits[2] = {0, 0};
  memcpy(bits, n->element, size);
  u64 hash = hash_u64(bits[0], hash_u64(bits[1], (u64)n->count << 8 | n->type));
  const_slot *known = &L->const_slots[hash % COUNT(L->const_slots)];
  bool same = n->count && known->count == n->count && known->type == n->type &&
              known->bits[0] == bits[0] && known->bits[1] == bits[1];
  if (!same) {
    char data[MAX_SPLAT_BYTES];
    for (i64 i = 0; i < n->count; i++) memcpy(data + (size_t)i * size, n->element, size);
    u32 slot = prog_const(L->b, (dtype)n->type, (u64)n->count, data);
    *known =
        (const_slot){.type = n->type, .slot = slot, .count = n->count, .bits = {bits[0], bits[1]}};
  }
  lower_make_dense(L, n, known->slot);
  return true;
}

/* n is that slot from now on, so that the next who asks does not copy again. */
u32 fuse_dense(lower *L, node *n) {
  fuse_settle(L, n);
  if (n->kind == NODE_PIECES) pieces_write(L, n);
  if ((n->kind == NODE_MEM && n->dense) || constant_slot(L, n)) return n->slot;
  u32 slot = lower_new_slot(L, n);
  fuse_store(L, n, slot, 0, lower_dense_strides(L, n->rank, n->dims));
  lower_make_dense(L, n, slot);
  return slot;
}

void fuse_store(lower *L, node *n, u32 slot, i64 offset, const i64 *strides) {
  if (n->kind == NODE_MEM) {
    prog_add_copy(L->b, n->rank, n->dims, n->slot, n->offset, n->stride, slot, offset, strides,
                  lower_name(L), lower_loc(L));
    return;
  }
  prog_access to = {.slot = slot, .offset = offset};
  if (n->rank) memcpy(to.stride, strides, n->rank * sizeof(i64));
  store(L, &n, &to, 1);
}
