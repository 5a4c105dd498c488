/* Built in a copy of the tree by test_tables.py, which adds a kind of step: every device writes its
 * position into a result. */
#include "tests/exec.h"

int main(void) {
  arena a;
  buf bytes, text;
  const program *again = NULL;
  u32 at[3] = {9, 9, 9};
  exec_options o = {.threads = 1};
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  buf_init(&bytes, &mem_system);
  buf_init(&text, &mem_system);
  CHECK(!exec_create(&o, &pool));
  prog_builder *b = prog_begin(&a, 1, 3);
  prog_add_place(b, prog_result(b, DTYPE_u32, 1, -1), STR("a.place"), STR("f.mlir:1:2"));
  program_serialize(finish(b), &bytes);
  CHECK(!program_deserialize(&a, (str){bytes.data, bytes.len}, &again));
  program_dump(again, &text);
  CHECK(strstr(buf_cstr(&text), "a.place: place -> %0") != NULL);
  executor_image *im = make_image(again);
  CHECK(!*run_image(pool, im, NULL, (void *[]){&at[0], &at[1], &at[2]}));
  CHECK(at[0] == 0 && at[1] == 1 && at[2] == 2);
  executor_image_release(pool, im);
  executor_release(pool);
  buf_deinit(&bytes);
  buf_deinit(&text);
  arena_deinit(&a);
  return UNIT_END();
}
