/* Arrays on the devices, and runs that do not wait: chains of them, what is given away, what is
 * refused, and errors that go on. */
#include <pthread.h>

#include "api/api.h"
#include "tests/api.h"

/* A step of a sum, which takes over its state's memory. */
static const char step[] =
    "sdy.mesh @m = <[\"x\"=2]>\n"
    "func.func @main(%s: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>,\n"
    "                                  tf.aliasing_output = 0 : i32},\n"
    "                %x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})\n"
    "    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}, tensor<f32>) {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %y = stablehlo.add %s, %x : tensor<4xf32>\n"
    "  %n = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0]\n"
    "      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %y, %n : tensor<4xf32>, tensor<f32>\n"
    "}\n";
static const char whole[] = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                            "  return %x : tensor<4xf32>\n}\n";
static const char failing[] =
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %y = stablehlo.custom_call @nobody_has_this(%x) {api_version = 4 : i32}\n"
    "      : (tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n}\n";

static const float zeros[4], ones[4] = {1, 1, 1, 1};

static tz_program *compiled(const char *text) {
  tz_program *p;
  CHECK(fine(tz_compile(text, strlen(text), NULL, &p)));
  return p;
}

static tz_buffer *filled(tz_runtime *r, const tz_program *p, u32 i, const float *data) {
  tz_buffer *b;
  CHECK(fine(tz_buffer_create(r, p, i, data, &b)));
  return b;
}

static bool has(tz_buffer *b, float wanted) {
  float y[4] = {-1};
  return fine(tz_buffer_read(b, y)) && y[0] == wanted;
}

/* Handed in one after the other, each with the result of the one before. */
static void test_chain(tz_runtime *r, bool give) {
  enum { TURNS = 100 };
  tz_program *p = compiled(step);
  tz_buffer *s = filled(r, p, 0, zeros), *x = filled(r, p, 1, ones), *first = s, *out[2];
  for (int i = 0; i < TURNS; i++) {
    CHECK(fine(tz_start(r, p, (tz_buffer *[]){s, x}, (bool[]){give, false}, out)));
    if (i == TURNS - 1) CHECK(has(out[1], 4 * TURNS));
    if (s != first) tz_buffer_free(s);
    tz_buffer_free(out[1]);
    s = out[0];
  }
  tz_program_free(p); /* what is under way keeps it */
  CHECK(fine(tz_buffer_await(s)) && tz_buffer_is_ready(s) && has(s, TURNS));
  tz_tensor t = {TZ_SIZED(tz_tensor)};
  CHECK(tz_buffer_tensor(s, &t) && t.local_dims[0] == 2 && t.bytes == 16);
  if (give)
    CHECK(refused(tz_buffer_read(first, (float[4]){0}), "was given"));
  else
    CHECK(has(first, 0));
  tz_buffer_free(first);
  tz_buffer_free(s);
  tz_buffer_free(x);
}

static void test_refused(tz_runtime *r, tz_runtime *other) {
  tz_program *p = compiled(step), *q = compiled(whole);
  tz_buffer *s = filled(r, p, 0, zeros), *x = filled(r, p, 1, ones), *w = filled(r, q, 0, ones);
  tz_buffer *far = filled(other, p, 1, ones), *b, *out[2];
  CHECK(refused(tz_buffer_create(r, p, 2, ones, &b), "no parameter 2") && !b);
  CHECK(refused(tz_buffer_create(r, p, 0, NULL, &b), "NULL") && !b);
  CHECK(refused(tz_buffer_create(NULL, p, 0, ones, &b), "NULL") && !b);
  CHECK(refused(tz_buffer_create(r, NULL, 0, ones, &b), "NULL") && !b);
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, w}, NULL, out), "input 1 is f32 on 1 devices"));
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, far}, NULL, out), "another runtime"));
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, NULL}, NULL, out), "input 1 is NULL"));
  CHECK(refused(tz_start(r, p, NULL, NULL, out), "NULL") && !out[0]);
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, x}, NULL, NULL), "NULL"));
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, s}, (bool[]){true, false}, out), "input 1"));
  CHECK(refused(tz_start(r, p, (tz_buffer *[]){s, s}, (bool[]){true, true}, out), "given before"));
  CHECK(has(s, 0) && has(x, 1) && !out[0] && !out[1]); /* nobody has taken anything */
  CHECK(fine(tz_start(r, p, (tz_buffer *[]){s, s}, NULL, out)) && has(out[0], 0));
  CHECK(refused(tz_buffer_read(s, NULL), "NULL") && refused(tz_buffer_read(NULL, NULL), "NULL"));
  CHECK(refused(tz_buffer_await(NULL), "NULL") && tz_buffer_is_ready(NULL));
  tz_buffer *all[] = {s, x, w, far, out[0], out[1], NULL};
  for (size_t i = 0; i < COUNT(all); i++) tz_buffer_free(all[i]);
  tz_program_free(p);
  tz_program_free(q);
}

/* Of a run, and of one that wants its result. */
static void test_failed(tz_runtime *r) {
  tz_program *p = compiled(failing), *q = compiled(whole);
  tz_buffer *x = filled(r, p, 0, ones), *y, *z;
  tz_error *e = tz_start(r, p, &x, NULL, &y);
  if (e) {
    CHECK(refused(e, "nobody_has_this") && !y);
  } else {
    CHECK(fine(tz_start(r, q, &y, NULL, &z)));
    CHECK(refused(tz_buffer_await(y), "nobody_has_this"));
    CHECK(refused(tz_buffer_read(z, (float[4]){0}), "nobody_has_this"));
    tz_buffer_free(y);
    tz_buffer_free(z);
  }
  CHECK(has(x, 1));
  tz_buffer_free(x);
  tz_program_free(p);
  tz_program_free(q);
}

typedef struct runner {
  tz_runtime *r;
  const tz_program *p;
  tz_buffer *x;
} runner;

static void *run_many(void *user) {
  runner *n = user;
  tz_buffer *s = filled(n->r, n->p, 0, zeros), *out[2];
  for (int i = 0; i < 200; i++) {
    CHECK(fine(tz_start(n->r, n->p, (tz_buffer *[]){s, n->x}, (bool[]){true, false}, out)));
    tz_buffer_free(s);
    tz_buffer_free(out[1]);
    s = out[0];
  }
  CHECK(has(s, 200));
  tz_buffer_free(s);
  return NULL;
}

static void test_threads(tz_runtime *r) {
  tz_program *p = compiled(step);
  runner n = {r, p, filled(r, p, 1, ones)};
  pthread_t t[3];
  for (size_t i = 0; i < COUNT(t); i++) pthread_create(&t[i], NULL, run_many, &n);
  for (size_t i = 0; i < COUNT(t); i++) pthread_join(t[i], NULL);
  tz_buffer_free(n.x);
  tz_program_free(p);
}

int main(void) {
  const char *const kinds[] = {"cpu", "plain"};
  for (size_t i = 0; i < COUNT(kinds); i++) {
    tz_runtime *r, *other;
    CHECK(fine(tz_runtime_create_on(kinds[i], 2, &r)));
    CHECK(fine(tz_runtime_create_on(kinds[i], 1, &other)));
    test_chain(r, true);
    test_chain(r, false);
    test_refused(r, other);
    test_failed(r);
    test_threads(r);
    tz_program *p = compiled(whole);
    tz_buffer *late = filled(r, p, 0, ones);
    tz_runtime_free(r);
    tz_buffer_free(late); /* it may outlive its runtime */
    tz_program_free(p);
    tz_runtime_free(other);
  }
  return UNIT_END();
}
