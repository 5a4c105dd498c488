/* Large arrays in and out of buffers, whole and in pieces, while the buffers go: four threads,
 * whose copies the client's thread makes. */
#include "device/feed.h"

#include <stdlib.h>

#include "tests/memory.h"
#include "tests/unit.h"

enum { N = 1 << 18, BYTES = 4 * N, PIECES = 4, ROUNDS = 20 };

static dev_client *client;
static _Alignas(64) float data[N + 1];
static const i64 dims[1] = {N};

static void wait_for(dev_event *e, bool *out_ok) {
  *out_ok = dev_event_await(e) == NULL;
  dev_event_release(e);
}

static bool holds(dev_buffer *b, float *out, const float *want) {
  dev_event *read;
  bool ok;
  CHECK(!dev_buffer_to_host(b, out, NULL, &read));
  wait_for(read, &ok);
  return ok && memcmp(out, want, BYTES) == 0;
}

/* Every other array is shared, or has to be copied for where it lies. */
static void round_trip(u32 i, float *out) {
  dev_memory *m = &dev_client_device(client, i % 2)->memories[i % 3];
  dev_host_array a = {.type = DTYPE_f32, .dims = {dims, 1}, .data = data + i % 2};
  dev_buffer *b, *copy, *same;
  dev_event *done;
  bool ok;
  a.lasting = a.shared = true;
  CHECK(!dev_buffer_from_array(m, &a, &b, &done));
  CHECK(!dev_buffer_copy(b, &dev_client_device(client, 1)->memories[0], &copy));
  CHECK(!dev_buffer_bitcast(b, DTYPE_s32, (i64s){dims, 1}, (i64s){0}, &same));
  dev_buffer_release(b);
  CHECK(holds(copy, out, data + i % 2) && holds(same, out, data + i % 2));
  dev_buffer_release(copy);
  dev_buffer_release(same);
  wait_for(done, &ok);
  CHECK(ok);
}

static void in_pieces(u32 i, float *out) {
  dev_memory *m = &dev_client_device(client, i % 2)->memories[0];
  dev_event *ready = dev_event_create(), *done[PIECES];
  dev_buffer *b;
  bool ok, last = i % 3 != 0;
  CHECK(!dev_buffer_create(m, DTYPE_f32, (i64s){dims, 1}, ready, NULL, &b));
  dev_feed *f = dev_feed_create(b, ready);
  for (size_t p = 0; p < PIECES; p++)
    CHECK(!dev_feed_bytes(f, data + p * N / PIECES, p * BYTES / PIECES, BYTES / PIECES,
                          last && p + 1 == PIECES, &done[p]));
  dev_feed_close(f);
  CHECK((dev_event_await(ready) == NULL) == last);
  for (size_t p = 0; p < PIECES; p++) {
    wait_for(done[p], &ok);
    CHECK(ok);
  }
  CHECK(!last || holds(b, out, data));
  dev_event_release(ready);
  dev_buffer_release(b);
}

static void *work(void *user) {
  float *out = malloc(BYTES);
  for (u32 i = *(u32 *)user; i < ROUNDS; i++) {
    round_trip(i, out);
    in_pieces(i, out);
  }
  free(out);
  return NULL;
}

int main(void) {
  executor *on = memory_executor();
  pthread_t threads[4];
  u32 first[4] = {0, 1, 2, 3};
  for (u32 i = 0; i < N + 1; i++) data[i] = (float)i;
  CHECK(!dev_client_create(&(dev_client_options){.num_devices = 2, .on = on}, &client));
  for (u32 i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, work, &first[i]));
  for (u32 i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  dev_client_release(client);
  CHECK(atomic_load(&on->refs) == 1);
  executor_release(on);
  return UNIT_END();
}
