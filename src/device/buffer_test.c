#include "device/buffer.h"

#include "tests/memory.h"
#include "tests/unit.h"

static i64s dims2(const i64 *d) { return (i64s){d, 2}; }

static void test_round_trip(dev_client *c) {
  static const i64 dims[] = {2, 3};
  dev_memory *m = &dev_client_device(c, 1)->memories[0];
  dev_buffer *b, *other;
  dev_event *done;
  float in[3][2] = {{1, 2}, {3, 4}, {5, 6}}, out[6] = {0};
  /* the transposed view, then backwards */
  CHECK(!dev_buffer_from_host(m, DTYPE_f32, dims2(dims), in, (i64[]){4, 8}, &b));
  CHECK(!dev_buffer_to_host(b, out, NULL, &done) && dev_event_is_ready(done));
  dev_event_release(done);
  CHECK(memcmp(out, (float[]){1, 3, 5, 2, 4, 6}, sizeof out) == 0);
  CHECK(!dev_buffer_copy(b, &dev_client_device(c, 0)->memories[1], &other));
  CHECK(!dev_buffer_to_host(other, out, (i64[]){4, 8}, &done));
  dev_event_release(done);
  CHECK(memcmp(out, in, sizeof out) == 0);
  dev_buffer_release(other);
  CHECK(!dev_buffer_from_host(m, DTYPE_f32, dims2(dims), &in[2][1], (i64[]){-12, -4}, &other));
  CHECK(!dev_buffer_read(other, out, 4, 8, &done));
  dev_event_release(done);
  CHECK(out[0] == 5 && out[1] == 4);
  status s = dev_buffer_read(other, out, 20, 8, &done);
  CHECK(s && !done);
  status_free(s);
  dev_buffer_release(b);
  dev_buffer_release(other);
}

static void test_pending(dev_client *c, status error) {
  static const i64 dims[] = {4, 1};
  dev_device *d = dev_client_device(c, 0);
  dev_event *ready = dev_event_create(), *done;
  dev_buffer *b, *copy;
  dev_block *block;
  i32 out[4] = {0};
  CHECK(!dev_buffer_create(&d->memories[0], DTYPE_s32, dims2(dims), ready, NULL, &b));
  CHECK(!dev_buffer_hold(b, &block) && dev_block_uses(block) == 0);
  CHECK(!dev_buffer_to_host(b, out, NULL, &done) && !dev_event_is_ready(done));
  CHECK(dev_block_uses(block) == 1);
  CHECK(!dev_buffer_copy(b, &d->memories[2], &copy));
  dev_buffer_delete(b); /* readers keep the bytes */
  CHECK(dev_buffer_is_deleted(b) && dev_buffer_dims(b).data[0] == 4);
  dev_buffer_release(b);
  CHECK(!executor_write(dev_client_executor(c), dev_block_memory(block), 0,
                        &(executor_array){DTYPE_s32, dims2(dims), NULL}, (i32[]){0, 1, 2, 3}));
  status_code code = status_get_code(error);
  dev_event_set(ready, error);
  CHECK(dev_event_is_ready(done) && status_get_code(dev_event_error(done)) == code);
  CHECK(error || out[3] == 3);
  CHECK(status_get_code(dev_event_await(dev_buffer_ready(copy))) == code);
  CHECK(dev_block_uses(block) == 0);
  dev_block_release(block);
  dev_event_release(done);
  dev_event_release(ready);
  dev_buffer_release(copy);
  CHECK(d->bytes_in_use == 0);
}

static void test_deleted(dev_client *c) {
  static const i64 dims[] = {1, 1}, wrong[] = {-1, 2}, huge[] = {INT64_MAX, 4};
  dev_memory *m = &dev_client_device(c, 0)->memories[0];
  dev_buffer *b;
  dev_event *done;
  dev_block *block;
  i32 x = 7, out = 0;
  CHECK(!dev_buffer_from_host(m, DTYPE_s32, dims2(dims), &x, NULL, &b));
  CHECK(!dev_buffer_add_external(b));
  dev_buffer_delete(b);
  status s = dev_buffer_to_host(b, &out, NULL, &done), t = dev_buffer_hold(b, &block);
  CHECK(status_get_code(s) == STATUS_INVALID_ARGUMENT && t && !done && !block);
  status_free(s);
  status_free(t);
  CHECK(!dev_buffer_drop_external(b));
  s = dev_buffer_drop_external(b);
  CHECK(s);
  status_free(s);
  dev_buffer_release(b);
  s = dev_buffer_from_host(m, DTYPE_s32, dims2(wrong), &x, NULL, &b);
  CHECK(s && !b);
  status_free(s);
  s = dev_buffer_from_host(m, DTYPE_s32, dims2(huge), &x, NULL, &b);
  CHECK(s && !b);
  status_free(s);
}

/* A block is given away only by its one user, and comes back unless it was deleted meanwhile. */
static void test_donation(dev_client *c) {
  static const i64 dims[] = {1, 1};
  dev_memory *m = &dev_client_device(c, 0)->memories[0];
  dev_buffer *b;
  dev_block *mine, *other = NULL, *none;
  i32 x = 7, kept = 0;
  void *mapped;
  CHECK(!dev_buffer_from_host(m, DTYPE_s32, dims2(dims), &x, NULL, &b));
  CHECK(!dev_buffer_map(b, &mapped) && *(i32 *)mapped == 7);
  CHECK(!dev_buffer_use(b, &mine) && !dev_buffer_use(b, &other) && mine == other);
  CHECK(!dev_buffer_donate(b) && !dev_buffer_is_deleted(b));
  dev_block_end_use(other); /* as a launch that is in its queue: still held */
  CHECK(!dev_buffer_add_external(b) && !dev_buffer_donate(b) && !dev_buffer_drop_external(b));
  CHECK(dev_buffer_donate(b) && dev_buffer_is_deleted(b));
  status s = dev_buffer_use(b, &none);
  CHECK(s && !none);
  status_free(s);
  dev_buffer_return(b);
  CHECK(!dev_buffer_is_deleted(b) && dev_buffer_donate(b));
  dev_buffer_delete(b);
  dev_buffer_return(b);
  CHECK(!executor_read(dev_client_executor(c), dev_block_memory(mine), 0,
                       &(executor_array){DTYPE_s32, dims2(dims), NULL}, &kept));
  CHECK(dev_buffer_is_deleted(b) && kept == 7);
  s = dev_buffer_map(b, &mapped);
  CHECK(s && !mapped);
  status_free(s);
  dev_buffer_release(b);
  dev_block_release(mine);
  dev_block_release(other);
  CHECK(!dev_buffer_view(m, DTYPE_s32, dims2(dims), &x, false, NULL, NULL, &b));
  CHECK(!dev_buffer_use(b, &mine) && !dev_buffer_donate(b)); /* its memory is somebody else's */
  dev_buffer_release(b);
  dev_block_release(mine);
}

static void test_truth(dev_client *c) {
  static const i64 dims[] = {2, 2};
  static const u8 in[] = {0, 1, 2, 255};
  u8 out[4];
  dev_buffer *b;
  dev_event *done;
  CHECK(!dev_buffer_from_host(&dev_client_device(c, 0)->memories[0], DTYPE_pred, dims2(dims), in,
                              NULL, &b));
  CHECK(!dev_buffer_to_host(b, out, NULL, &done) && dev_event_is_ready(done));
  CHECK(out[0] == 0 && out[1] == 1 && out[2] == 1 && out[3] == 1);
  dev_event_release(done);
  dev_buffer_release(b);
}

/* What does not fit is refused with what there is, and what has it. */
static void test_limit(executor *on) {
  static const i64 most[] = {25, 10}, half[] = {10, 10}, one[] = {1, 1};
  dev_client *c;
  dev_buffer *big, *small, *none;
  dev_event *ready = dev_event_create();
  CHECK(!dev_client_create(&(dev_client_options){.num_devices = 2, .on = on, .memory = 1404}, &c));
  dev_memory *m = dev_client_device(c, 0)->memories, *n = dev_client_device(c, 1)->memories;
  CHECK(dev_client_bytes_per_device(c) == 702);
  CHECK(!dev_buffer_create(n, DTYPE_s32, dims2(half), ready, NULL, &small));
  CHECK(!dev_buffer_create(m, DTYPE_f32, dims2(most), ready, NULL, &big));
  status s = dev_buffer_create(m, DTYPE_s64, dims2(one), ready, NULL, &none);
  CHECK(!none && status_get_code(s) == STATUS_RESOURCE_EXHAUSTED);
  CHECK(str_is(status_message(s),
               "no memory for s64[1,1] (8 bytes) on device 0: 4 of 1404 bytes are free; the "
               "largest live buffers are f32[25,10] (1000 bytes, device 0), s32[10,10] (400 "
               "bytes, device 1)"));
  status_free(s);
  dev_buffer_release(big);
  CHECK(!dev_buffer_create(m, DTYPE_s64, dims2(half), ready, NULL, &big));
  dev_buffer_release(big);
  dev_buffer_release(small);
  CHECK(dev_client_bytes_free(c) == 1404);
  dev_event_release(ready);
  dev_client_release(c);
}

int main(void) {
  dev_client *c;
  executor *on = memory_executor();
  status s = dev_client_create(&(dev_client_options){.num_devices = 2, .on = on}, &c);
  CHECK(!s);
  test_round_trip(c);
  test_pending(c, NULL);
  test_pending(c, status_make(STATUS_INTERNAL, "failed"));
  test_deleted(c);
  test_donation(c);
  test_truth(c);
  test_limit(on);
  dev_client_release(c);
  executor_release(on);
  return UNIT_END();
}
