/* A library's sgemm behind two questions: is it there, and is there room for it. Loading
 * takes longer than all else that a client begins with, so the first product does it; dot.c
 * multiplies with it. */
#include "exec/accel.h"

#include <limits.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/os.h"

/* Of address space: the libraries with their dependencies take 40 MiB, a thread's first product
 * 3 MiB and, for malloc, an arena of 64 MiB. */
#define ROOM_TO_LOAD ((size_t)192 << 20)
#define ROOM_TO_BEGIN ((size_t)96 << 20)

static bool has_room(size_t bytes) {
  void *p = mem_alloc(&mem_system, bytes);
  mem_free(&mem_system, p, bytes);
  return p != NULL;
}

typedef enum accel_state { ACCEL_UNKNOWN, ACCEL_THERE, ACCEL_NONE } accel_state;

void accel_init(exec_accelerator *a) {
  const char *wanted = getenv("TERRAZZO_ONEDNN");
  *a = (exec_accelerator){.lock = PTHREAD_MUTEX_INITIALIZER};
  if (wanted && strcmp(wanted, "0") == 0) atomic_init(&a->state, ACCEL_NONE);
}

void accel_deinit(exec_accelerator *a) { pthread_mutex_destroy(&a->lock); }

/* What oneDNN says of itself, the same in its versions 2 and 3 (dnnl_version_t). */
typedef struct library_version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
} library_version;
enum { SEQUENTIAL = 1, OPENMP = 2 };

/* Of the runtimes that it is built for only these are known to leave a product to one thread. The
 * library's own OpenMP is meant, which is libgomp or another: what it is linked with is searched as
 * well. */
static bool one_thread(void *lib, exec_accelerator *out) {
  const library_version *(*version)(void) = NULL;
  void *ask = os_symbol(lib, "dnnl_version");
  memcpy(&version, &ask, sizeof ask);
  unsigned runtime = version ? version()->cpu_runtime : 0;
  if (runtime != OPENMP) return runtime == SEQUENTIAL;
  void *set = os_symbol(lib, "omp_set_num_threads"), *get = os_symbol(lib, "omp_get_max_threads");
  if (!set || !get) return false;
  memcpy(&out->omp_set_num_threads, &set, sizeof set);
  memcpy(&out->omp_get_max_threads, &get, sizeof get);
  return true;
}

/* OpenBLAS is told for good, since its number of threads is that of the process. Built for 64-bit
 * integers it has functions of other names. */
static bool load_blas(void *lib, exec_accelerator *out) {
  void (*set_num_threads)(int n) = NULL;
  void *sgemm = os_symbol(lib, "cblas_sgemm"), *set = os_symbol(lib, "openblas_set_num_threads");
  if (!sgemm || !set) return false;
  memcpy(&out->cblas_sgemm, &sgemm, sizeof sgemm);
  memcpy(&set_num_threads, &set, sizeof set);
  set_num_threads(1);
  return true;
}

/* oneDNN takes no instructions that TERRAZZO_KERNELS keeps from ours, so that an older processor
 * can be tried on a newer one. It must be told before all else. */
static void hold(void *lib) {
  enum { SSE41 = 0x1, AVX2 = 0x7 }; /* dnnl_cpu_isa_t */
  const char *kernels = getenv("TERRAZZO_KERNELS");
  bool base = kernels && strcmp(kernels, "base") == 0;
  int (*set_max_isa)(int isa) = NULL;
  void *set = os_symbol(lib, "dnnl_set_max_cpu_isa");
  if (!set || !(base || (kernels && strcmp(kernels, "v3") == 0))) return;
  memcpy(&set_max_isa, &set, sizeof set);
  (void)set_max_isa(base ? SSE41 : AVX2); /* false where it is told already */
}

/* The function is the same in both versions; distributions have one of them. */
static bool load(exec_accelerator *out) {
  static const char *const usual[] = {"libdnnl.so.3", "libdnnl.so.2", "libopenblas.so.0"};
  const char *wanted = getenv("TERRAZZO_ONEDNN");
  bool named = wanted && strchr(wanted, '/');
  for (size_t i = 0; i < (named ? 1 : COUNT(usual)); i++) {
    void *lib = os_library(named ? wanted : usual[i]);
    void *sgemm = lib ? os_symbol(lib, "dnnl_sgemm") : NULL;
    if (lib && !sgemm && load_blas(lib, out)) return true;
    if (!sgemm || !one_thread(lib, out)) continue;
    hold(lib);
    memcpy(&out->sgemm, &sgemm, sizeof sgemm);
    return true;
  }
  return false;
}

/* One thread a product: steps are shared out by the pool, and OpenMP's threads would come on
 * top. */
/* Where there is no room now there may be later. */
static bool is_there(exec_accelerator *a) {
  int state = atomic_load_explicit(&a->state, memory_order_acquire);
  if (state != ACCEL_UNKNOWN) return state == ACCEL_THERE;
  pthread_mutex_lock(&a->lock);
  if (atomic_load(&a->state) == ACCEL_UNKNOWN && has_room(ROOM_TO_LOAD))
    atomic_store_explicit(&a->state, load(a) ? ACCEL_THERE : ACCEL_NONE, memory_order_release);
  state = atomic_load(&a->state);
  pthread_mutex_unlock(&a->lock);
  return state == ACCEL_THERE;
}

bool accel_begin(accel_thread *t) {
  static _Thread_local bool before; /* this thread has made one */
  if (t->begun) return true;
  if (!t->lib || !is_there(t->lib) || (!before && !has_room(ROOM_TO_BEGIN))) return false;
  if (t->lib->omp_set_num_threads) {
    t->threads = t->lib->omp_get_max_threads();
    t->lib->omp_set_num_threads(1);
  }
  return t->begun = before = true;
}

void accel_end(accel_thread *t) {
  if (t->begun && t->lib->omp_set_num_threads) t->lib->omp_set_num_threads(t->threads);
  t->begun = false;
}

bool accel_multiply(const accel_thread *t, i64 m, i64 n, i64 k, accel_matrix a, accel_matrix b,
                    bool more, float *c, i64 ldc) {
  enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };
  if (t->lib->cblas_sgemm) {
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX || a.ld > INT_MAX || b.ld > INT_MAX ||
        ldc > INT_MAX)
      return false;
    t->lib->cblas_sgemm(ROW_MAJOR, a.transposed ? TRANSPOSED : AS_IS,
                        b.transposed ? TRANSPOSED : AS_IS, (int)m, (int)n, (int)k, 1, a.data,
                        (int)a.ld, b.data, (int)b.ld, more ? 1 : 0, c, (int)ldc);
    return true;
  }
  return t->lib->sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1, a.data, a.ld,
                       b.data, b.ld, more ? 1 : 0, c, ldc) == 0;
}
