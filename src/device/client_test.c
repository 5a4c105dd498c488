#include "device/client.h"

#include "device/heap.h"
#include "tests/memory.h"
#include "tests/unit.h"

static u32 choose(const char *option, const char *env, const char *flags) {
  u32 n = 0;
  status s = dev_choose_num_devices(str_of(option), env, flags, &n);
  CHECK(!s || status_get_code(s) == STATUS_INVALID_ARGUMENT);
  u32 result = s ? 0 : n;
  status_free(s);
  return result;
}

static void test_count(void) {
  const char *flag = "--xla_force_host_platform_device_count=4";
  CHECK(choose("", NULL, NULL) == 1);
  CHECK(choose("8", "4", flag) == 8);
  CHECK(choose("", "2", flag) == 2);
  CHECK(choose("", "", flag) == 4);
  CHECK(choose("", NULL, "--a=1 --xla_force_host_platform_device_count=8 --b") == 8);
  CHECK(choose("", NULL, "--no--xla_force_host_platform_device_count=8") == 1);
  const char *const bad[] = {"0", "-1", "65537", "8x", " 8", "99999999999999999999"};
  for (size_t i = 0; i < COUNT(bad); i++) CHECK(choose(bad[i], NULL, NULL) == 0);
  CHECK(choose("65536", NULL, NULL) == 65536);
  CHECK(choose("", NULL, "--xla_force_host_platform_device_count=") == 0);
}

static void test_client(void) {
  dev_client *c = NULL;
  dev_kind kind;
  executor *on = memory_executor();
  status s = dev_client_create(&(dev_client_options){.num_devices = 8, .on = on}, &c);
  CHECK(!s && c && dev_client_num_devices(c) == 8);
  CHECK(dev_client_device(c, 5)->memories[2].id == 17);
  CHECK(dev_kind_from_name(STR("pinned_host"), &kind) && kind == DEV_KIND_PINNED_HOST);
  CHECK(!dev_kind_from_name(STR("hbm"), &kind));
  dev_client_release(c);
  CHECK(atomic_load(&on->refs) == 1);
  s = dev_client_create(&(dev_client_options){.num_devices = 0, .on = on}, &c);
  CHECK(status_get_code(s) == STATUS_INVALID_ARGUMENT && !c);
  status_free(s);
}

static void test_heap(void) {
  dev_heap *h = dev_heap_create();
  for (size_t n = 0; n < 10000000; n = n * 3 + 1) {
    char *p = dev_heap_alloc(h, n);
    CHECK(p && (uintptr_t)p % 64 == 0);
    memset(p, 1, n);
    dev_heap_free(h, p, n);
  }
  CHECK(dev_heap_alloc(h, SIZE_MAX) == NULL);
  dev_heap_release(h);
}

/* Blocks of many sizes that are all freed: what lies about shrinks to little, and while they come
 * and go it is never more than was live at once. */
static void test_heap_gives_back(void) {
  enum { N = 24 };
  const size_t mib = 1 << 20, spare = 64 * mib;
  dev_heap *h = dev_heap_create();
  char *p[N];
  size_t live = 0;
  for (size_t i = 0; i < N; i++) {
    p[i] = dev_heap_alloc(h, (i + 1) * mib);
    CHECK(p[i]);
    live += (i + 1) * mib;
  }
  for (size_t i = 0; i < N; i++) dev_heap_free(h, p[i], (i + 1) * mib);
  CHECK(dev_heap_cached(h) <= live * 5 / 4 + spare);
  for (size_t i = 0; i < N; i++) { /* other sizes take their place */
    char *q = dev_heap_alloc(h, (i + 1) * 5 * mib);
    CHECK(q && dev_heap_cached(h) + (i + 1) * 5 * mib <= live * 5 / 4 + spare);
    dev_heap_free(h, q, (i + 1) * 5 * mib);
  }
  dev_heap_trim(h);
  dev_heap_trim(h);
  CHECK(dev_heap_cached(h) <= spare);
  p[0] = dev_heap_alloc(h, mib);
  while (dev_heap_trim(h)) {
  }
  CHECK(dev_heap_cached(h) == 0); /* what nobody asks for */
  dev_heap_free(h, p[0], mib);
  CHECK(!MEM_CACHES || dev_heap_cached(h) == mib);
  dev_heap_release(h);
}

int main(void) {
  test_count();
  test_client();
  test_heap();
  test_heap_gives_back();
  return UNIT_END();
}
