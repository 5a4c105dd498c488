/* A plan for people and programs. */
#include <inttypes.h>

#include "explain/plan.h"
#include "mesh/describe.h"

static void put_mesh(buf *b, const plan_answer *p, const plan_mesh *m) {
  for (size_t k = 0; k < p->axes.len; k++)
    buf_printf(b, "%s\"" STR_FMT "\"=%lld", k ? ", " : "", STR_ARG(p->axes.data[k]),
               (long long)m->size[k]);
}

/* ---- for people ---- */

static void pad(buf *b, size_t begin, size_t width) {
  BUF_LIT(b, " ");
  while (b->len < begin + width && buf_ok(b)) BUF_LIT(b, " ");
}

typedef void put_fn(buf *b, const plan_cost *c);
static void put_time(buf *b, const plan_cost *c) { explain_put_seconds(b, plan_seconds(c)); }
static void put_compute(buf *b, const plan_cost *c) { explain_put_seconds(b, c->compute); }
static void put_sends(buf *b, const plan_cost *c) { explain_put_seconds(b, c->sends); }
static void put_bytes(buf *b, const plan_cost *c) { explain_put_bytes(b, c->bytes); }
static void put_number(buf *b, const plan_cost *c) { buf_printf(b, "%" PRIu64, c->collectives); }
static void put_memory(buf *b, const plan_cost *c) {
  if (c->memory)
    explain_put_bytes(b, c->memory);
  else
    BUF_LIT(b, "not known");
}

static void put_costs(buf *b, const plan_answer *p) {
  static const struct {
    const char *what;
    put_fn *put;
  } rows[] = {{"time", put_time},           {"  computing", put_compute},
              {"  collectives", put_sends}, {"collectives", put_number},
              {"sent", put_bytes},          {"memory", put_memory}};
  bool own = p->own.cost.state != PLAN_UNKNOWN;
  buf_printf(b, "%-16s%-14s%s\n", "of a device", "this plan", own ? "as it is" : "");
  for (size_t i = 0; i < COUNT(rows); i++) {
    buf_printf(b, "%-16s", rows[i].what);
    size_t begin = b->len;
    rows[i].put(b, &p->best.cost);
    if (own) pad(b, begin, 14);
    if (own) rows[i].put(b, &p->own.cost);
    BUF_LIT(b, "\n");
  }
}

static void put_head(buf *b, const plan_answer *p) {
  if (p->claim == PLAN_OPTIMAL)
    buf_printf(b, "optimal over the %.0f assignments", p->assignments);
  else
    buf_printf(b, "best of %u tried, of %.3g assignments", p->tried, p->assignments);
  buf_printf(b, ": %u devices as ", p->devices);
  put_mesh(b, p, &p->meshes.data[p->best.mesh]);
  BUF_LIT(b, "\n");
  if (p->small.len)
    buf_printf(b, "searched on %u of its %u layers: other choices and meshes are of these\n",
               p->small_layers, p->layers);
  if (!p->q->memory) return;
  if (p->best.cost.state == PLAN_LARGE) {
    BUF_LIT(b, "nothing that was tried fits into ");
    explain_put_bytes(b, p->q->memory);
    BUF_LIT(b, "\n");
  }
}

static const plan_other *other_of(const plan_answer *p, size_t g) {
  for (size_t i = 0; i < p->others.len; i++)
    if (p->others.data[i].group == g) return &p->others.data[i];
  return NULL;
}

/* What the next best choice would cost. */
static void put_why(buf *b, const plan_answer *p, const plan_other *o) {
  const plan_group *g = &p->groups.data[o->group];
  BUF_LIT(b, "    instead ");
  plan_put_spec(b, p, g, &o->choice);
  BUF_LIT(b, ": ");
  if (o->cost.state == PLAN_FAILS) {
    BUF_LIT(b, "does not compile\n");
    return;
  }
  if (o->cost.state == PLAN_LARGE) {
    BUF_LIT(b, "does not fit, ");
    explain_put_bytes(b, o->cost.memory);
    BUF_LIT(b, " at least\n");
    return;
  }
  explain_put_seconds(b, plan_seconds(&o->cost));
  double best = p->small.len ? p->small_seconds : plan_seconds(&p->best.cost);
  double more = plan_seconds(&o->cost) / best;
  buf_printf(b, " (%.4g times), ", more);
  explain_put_bytes(b, o->cost.bytes);
  BUF_LIT(b, " sent, arguments ");
  explain_put_bytes(b, o->cost.arguments);
  BUF_LIT(b, "\n");
}

static void put_group(buf *b, const plan_answer *p, size_t g) {
  const plan_group *x = &p->groups.data[g];
  const plan_choice *c = &p->best.choices[g];
  buf_printf(b, "  " STR_FMT ": " STR_FMT, STR_ARG(x->name), STR_ARG(x->type));
  if (x->args.len > 1) buf_printf(b, ", %zu alike", x->args.len);
  BUF_LIT(b, "\n    ");
  plan_put_spec(b, p, x, c);
  BUF_LIT(b, "    ");
  plan_put_sharding(b, p, x, c);
  BUF_LIT(b, "\n");
  if (p->said && memcmp(&p->said[g], c, sizeof *c) != 0) {
    BUF_LIT(b, "    as it is ");
    plan_put_spec(b, p, x, &p->said[g]);
    BUF_LIT(b, "\n");
  }
  const plan_other *o = other_of(p, g);
  if (o) put_why(b, p, o);
}

static void put_meshes(buf *b, const plan_answer *p) {
  if (p->by_mesh.len < 2) return;
  BUF_LIT(b, "best that was tried on each mesh\n");
  for (size_t i = 0; i < p->by_mesh.len; i++) {
    const plan_state *s = &p->by_mesh.data[i];
    size_t begin = b->len;
    BUF_LIT(b, "  ");
    put_mesh(b, p, &p->meshes.data[s->mesh]);
    pad(b, begin, 32);
    if (s->cost.state == PLAN_FAILS)
      BUF_LIT(b, "does not compile");
    else if (plan_seconds(&s->cost) > 0)
      put_time(b, &s->cost);
    if (s->cost.state == PLAN_LARGE) BUF_LIT(b, "  does not fit");
    BUF_LIT(b, "\n");
  }
}

static void put_text(buf *b, const plan_answer *p) {
  put_head(b, p);
  put_costs(b, p);
  BUF_LIT(b, "arguments\n");
  for (size_t g = 0; g < p->groups.len; g++)
    if (p->groups.data[g].dims.len) put_group(b, p, g);
  put_meshes(b, p);
}

/* ---- JSON ---- */

static void json_cost(buf *b, const plan_cost *c) {
  if (c->state == PLAN_UNKNOWN || c->state == PLAN_FAILS) {
    BUF_LIT(b, "null");
    return;
  }
  buf_printf(b,
             "{\"seconds\": %.9g, \"compute\": %.9g, \"communication\": %.9g, \"bytes\": %" PRIu64
             ", \"collectives\": %" PRIu64 ", \"arguments\": %" PRIu64 ", \"memory\": ",
             plan_seconds(c), c->compute, c->sends, c->bytes, c->collectives, c->arguments);
  if (c->memory)
    buf_printf(b, "%" PRIu64 "}", c->memory);
  else
    BUF_LIT(b, "null}");
}

static void json_mesh(buf *b, const plan_answer *p, const plan_mesh *m) {
  BUF_LIT(b, "[");
  for (size_t k = 0; k < p->axes.len; k++) {
    buf_printf(b, k ? ", {\"name\": " : "{\"name\": ");
    json_string(b, p->axes.data[k]);
    buf_printf(b, ", \"size\": %lld}", (long long)m->size[k]);
  }
  BUF_LIT(b, "]");
}

/* "spec": a list of axes for each dimension. */
static void json_choice(buf *b, const plan_answer *p, const plan_group *g, const plan_choice *c) {
  BUF_LIT(b, "\"spec\": [");
  for (size_t d = 0; d < g->dims.len; d++) {
    bool first = true;
    buf_printf(b, d ? ", [" : "[");
    for (size_t k = 0; k < p->axes.len; k++) {
      if (c->dim[k] != (int)d) continue;
      if (!first) BUF_LIT(b, ", ");
      json_string(b, p->axes.data[k]);
      first = false;
    }
    BUF_LIT(b, "]");
  }
  BUF_LIT(b, "], \"sharding\": ");
  buf text;
  buf_init(&text, &mem_system);
  plan_put_sharding(&text, p, g, c);
  json_string(b, buf_view(&text));
  buf_deinit(&text);
}

static void json_group(buf *b, const plan_answer *p, size_t g) {
  const plan_group *x = &p->groups.data[g];
  BUF_LIT(b, "{\"name\": ");
  json_string(b, x->name);
  BUF_LIT(b, ", \"type\": ");
  json_string(b, x->type);
  BUF_LIT(b, ", ");
  json_choice(b, p, x, &p->best.choices[g]);
  BUF_LIT(b, ", \"arguments\": [");
  for (size_t i = 0; i < x->args.len; i++) buf_printf(b, "%s%u", i ? ", " : "", x->args.data[i]);
  BUF_LIT(b, "], \"instead\": ");
  const plan_other *o = other_of(p, g);
  if (o) {
    BUF_LIT(b, "{");
    json_choice(b, p, x, &o->choice);
    buf_printf(b, ", \"fits\": %s, \"cost\": ", o->cost.state == PLAN_WORKS ? "true" : "false");
    json_cost(b, &o->cost);
    BUF_LIT(b, "}}");
  } else {
    BUF_LIT(b, "null}");
  }
}

static void json_arguments(buf *b, const plan_answer *p) {
  BUF_LIT(b, "],\n\"arguments\": [");
  for (u32 i = 0; i < p->num_args; i++) {
    u32 g = p->group_of[i];
    buf_printf(b, i ? ",\n{\"name\": " : "{\"name\": ");
    json_string(b, p->names[i]);
    buf_printf(b, ", \"group\": %u, ", g);
    json_choice(b, p, &p->groups.data[g], &p->best.choices[g]);
    BUF_LIT(b, "}");
  }
}

static void put_json(buf *b, const plan_answer *p) {
  buf_printf(b, "{\"devices\": %u, \"claim\": \"%s\", \"tried\": %u, \"assignments\": %.9g",
             p->devices, p->claim == PLAN_OPTIMAL ? "optimal" : "best tried", p->tried,
             p->assignments);
  if (p->small.len)
    buf_printf(b, ", \"searched_layers\": %u, \"layers\": %u", p->small_layers, p->layers);
  buf_printf(
      b, ", \"fits\": %s, \"mesh_name\": ", p->best.cost.state == PLAN_WORKS ? "true" : "false");
  json_string(b, p->mesh_name);
  BUF_LIT(b, ", \"mesh\": ");
  json_mesh(b, p, &p->meshes.data[p->best.mesh]);
  BUF_LIT(b, ",\n\"cost\": ");
  json_cost(b, &p->best.cost);
  BUF_LIT(b, ",\n\"as_it_is\": ");
  json_cost(b, &p->own.cost);
  BUF_LIT(b, ",\n\"groups\": [");
  for (size_t g = 0; g < p->groups.len; g++) {
    if (g) BUF_LIT(b, ",\n");
    json_group(b, p, g);
  }
  json_arguments(b, p);
  BUF_LIT(b, "],\n\"meshes\": [");
  for (size_t i = 0; i < p->by_mesh.len; i++) {
    const plan_state *s = &p->by_mesh.data[i];
    buf_printf(b, i ? ",\n{\"mesh\": " : "{\"mesh\": ");
    json_mesh(b, p, &p->meshes.data[s->mesh]);
    buf_printf(b, ", \"fits\": %s, \"cost\": ", s->cost.state == PLAN_WORKS ? "true" : "false");
    json_cost(b, &s->cost);
    BUF_LIT(b, "}");
  }
  BUF_LIT(b, "]}\n");
}

void plan_print(plan_answer *p, bool json, buf *out) {
  if (json)
    put_json(out, p);
  else
    put_text(out, p);
}
