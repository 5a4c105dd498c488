/* The plugin goes as it came: nothing of it runs or is mapped when it has been closed, time after
 * time; and a process ends cleanly with a client that nobody has destroyed.
 *
 *   pjrt_unload_test PLUGIN */
#include <dirent.h>
#include <dlfcn.h>
#include <time.h>

#include "tests/pjrt.h"

static const PJRT_Api *api;
const PJRT_Api *GetPjrtApi(void) { return api; }

static void *open_plugin(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = dlsym(library, "GetPjrtApi");
  const PJRT_Api *(*get_api)(void);
  memcpy(&get_api, &symbol, sizeof get_api);
  api = get_api();
  return library;
}

static int threads(void) {
  DIR *d = opendir("/proc/self/task");
  int n = -2; /* the folder itself and the one above */
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

/* One that was joined is listed until the system has put it away. */
static bool threads_go(int before) {
  for (int i = 0; i < 10000 && threads() > before; i++)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  return threads() == before;
}

/* On two threads; the result is left in flight. */
static PJRT_Client *work(void) {
  static const char text[] =
      "module @twice { func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
      "  %y = stablehlo.add %x, %x : tensor<8xf32>\n"
      "  return %y : tensor<8xf32> } }";
  static const float data[8] = {1, 2, 3};
  float out[8];
  PJRT_LoadedExecutable *l;
  PJRT_Client *c = make_client(2, 2);
  check_ok(compile(c, text, &l), "compile");
  PJRT_Buffer *x = put(c, 0, data, 8), *y = NULL, *z = NULL;
  PJRT_Buffer *const *args[] = {&x, &y};
  PJRT_Buffer **outs[] = {&y, &z};
  for (int i = 0; i < 2; i++) {
    OK(LoadedExecutable_Execute, a, .executable = l, .argument_lists = &args[i], .num_devices = 1,
       .num_args = 1, .output_lists = &outs[i]);
  }
  get(y, out, 8);
  CHECK(out[2] == 6);
  destroy_buffer(x), destroy_buffer(y), destroy_buffer(z);
  destroy_loaded(l);
  return c;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int before = threads();
  for (int i = 0; i < 3; i++) {
    void *library = open_plugin(argv[1]);
    destroy_client(work());
    CHECK(threads_go(before));
    CHECK(!dlclose(library));
#ifdef __GLIBC__ /* musl's dlclose keeps what is loaded */
    CHECK(!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD));
#endif
  }
  static PJRT_Client *left; /* found by who looks for leaks */
  open_plugin(argv[1]);
  left = work();
  return UNIT_END() || !left;
}
