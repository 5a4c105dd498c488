/* What explain_mem says of a program is what running it takes from the executor's allocator, to the
 * byte.
 *
 *   api_mem_test FILE... */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "api/api.h"
#include "tests/api.h"

/* ---- the allocator, with a count ---- */

static atomic_llong live, most;

void *__real_dev_heap_alloc(void *heap, size_t bytes);
void __real_dev_heap_free(void *heap, void *p, size_t bytes);
void *__wrap_dev_heap_alloc(void *heap, size_t bytes);
void __wrap_dev_heap_free(void *heap, void *p, size_t bytes);

void *__wrap_dev_heap_alloc(void *heap, size_t bytes) {
  long long now = atomic_fetch_add(&live, (long long)bytes) + (long long)bytes;
  for (long long seen = atomic_load(&most); now > seen;)
    if (atomic_compare_exchange_weak(&most, &seen, now)) break;
  return __real_dev_heap_alloc(heap, bytes);
}

void __wrap_dev_heap_free(void *heap, void *p, size_t bytes) {
  if (p) atomic_fetch_sub(&live, (long long)bytes);
  __real_dev_heap_free(heap, p, bytes);
}

/* ---- a program ---- */

static char source[1 << 20];

static void **make_arrays(const tz_program *p, size_t n, tz_tensor (*of)(const tz_program *, u32)) {
  void **list = calloc(n + 1, sizeof *list);
  for (size_t i = 0; i < n; i++) list[i] = calloc(1, of(p, (u32)i).bytes + 1);
  return list;
}

static void free_arrays(void **list, size_t n) {
  for (size_t i = 0; i < n; i++) free(list[i]);
  free(list);
}

static long long measure(size_t size) {
  tz_program *p;
  tz_runtime *r;
  if (!fine(tz_compile(source, size, NULL, &p))) return -1;
  size_t num_in = tz_program_num_params(p), num_out = tz_program_num_results(p);
  void **in = make_arrays(p, num_in, api_param);
  void **out = make_arrays(p, num_out, api_result);
  CHECK(fine(tz_runtime_create(1, &r)));
  atomic_store(&live, 0);
  atomic_store(&most, 0);
  CHECK(fine(tz_run(r, p, (const void *const *)in, out)));
  CHECK(atomic_load(&live) == 0);
  tz_runtime_free(r);
  free_arrays(in, num_in);
  free_arrays(out, num_out);
  tz_program_free(p);
  return atomic_load(&most);
}

/* Devices that do not meet may run one after the other: as many workspaces as were there at once.
 */
static void compare(const mem_answer *m, long long found, bool meet) {
  long long n = m->devices, each = (long long)m->workspace;
  long long fixed = n * (long long)(m->arguments + m->results);
  long long spaces = each ? (found - fixed) / each : 0;
  CHECK(found == fixed + spaces * each && spaces <= n && (spaces >= 1 || !each));
  CHECK(!meet || !each || spaces > 1);
  CHECK(m->total == m->arguments + m->results + m->workspace && m->peak <= m->workspace);
  u64 top = 0;
  for (u32 i = 0; i < m->num_steps; i++) top = m->over_time[i] > top ? m->over_time[i] : top;
  CHECK(top == m->peak);
  for (size_t i = 0; i + 1 < m->alive.len; i++)
    CHECK(m->alive.data[i].bytes >= m->alive.data[i + 1].bytes);
}

static void check_program(const char *path, oom_trap *trap) {
  size_t size = read_whole(path, source, sizeof source);
  explain_source s = {.text = {source, size}, .file = str_of(path), .trap = trap};
  explain_run r;
  status bad = explain_line(&s, NULL, 0, true, &r);
  CHECK(size && !bad);
  if (!bad) {
    mem_answer m = explain_mem(&r);
    compare(&m, measure(size), r.collectives.len != 0);
  }
  status_free(bad);
  explain_end(&r);
}

int main(int argc, char **argv) {
  oom_trap trap;
  if (setjmp(trap.at)) return 1;
  for (int i = 1; i < argc; i++) check_program(argv[i], &trap);
  return UNIT_END();
}
