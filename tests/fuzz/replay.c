/* Runs a fuzz target over the files of the folders given, each as it is and in mutations that are
 * the same every time; TERRAZZO_FUZZ_MUTATIONS says how many of each file (100). Ends with a count
 * in the manner of tests/unit.h; a failure is a crash. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t runs;

static void run(const u8 *data, size_t size) {
  u8 *exact = malloc(size ? size : 1); /* so that a sanitizer sees reads past the end */
  if (!exact) abort();
  memcpy(exact, data, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  runs++;
}

static u32 next(u64 *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (u32)(*seed >> 33);
}

/* Flips, overwrites, swaps, cuts and repeats a few bytes. */
static size_t mutate(u8 *d, size_t size, u64 *seed) {
  for (u32 n = 1 + next(seed) % 4; n > 0 && size; n--) {
    size_t at = next(seed) % size, to = next(seed) % size, len = 1 + next(seed) % 8;
    len = min_size(len, size - (at > to ? at : to));
    switch (next(seed) % 6) {
    case 0:
      d[at] ^= (u8)(1u << next(seed) % 8);
      break;
    case 1:
      d[at] = (u8)next(seed);
      break;
    case 2:
      d[at] = (u8)(d[at] + 2);
      break;
    case 3:
      memmove(d + to, d + at, len);
      break;
    case 4:
      memset(d + at, next(seed) % 2 ? 0xFF : 0, len);
      break;
    default:
      memmove(d + at, d + at + len, size - at - len);
      size -= len;
    }
  }
  return size;
}

static void run_file(const char *path, u32 mutations) {
  struct stat s = {0};
  FILE *f = fopen(path, "rb");
  if (!f || fstat(fileno(f), &s) || !S_ISREG(s.st_mode)) {
    if (f) fclose(f);
    return;
  }
  size_t size = (size_t)s.st_size;
  u8 *data = malloc(size ? size : 1), *changed = malloc(size ? size : 1);
  if (!data || !changed || fread(data, 1, size, f) != size) abort();
  fclose(f);
  run(data, size);
  u64 seed = hash_bytes(data, size, 0);
  for (u32 i = 0; i < mutations; i++) {
    memcpy(changed, data, size);
    run(changed, mutate(changed, size, &seed));
  }
  free(data);
  free(changed);
}

int main(int argc, char **argv) {
  const char *wanted = getenv("TERRAZZO_FUZZ_MUTATIONS");
  u32 mutations = wanted ? (u32)atoi(wanted) : 100;
  for (int i = 1; i < argc; i++) {
    DIR *d = opendir(argv[i]);
    if (!d) run_file(argv[i], mutations);
    for (struct dirent *e; d && (e = readdir(d));) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
      run_file(path, mutations);
    }
    if (d) closedir(d);
  }
  printf("%zu passed, 0 failed, 0 skipped\n", runs);
  return runs == 0;
}
