"""oneDNN is found under the names that distributions have, and refused where a product of it would
take more threads than one. A library of ours stands in for it, and tells when it is called."""
import os
import subprocess

import numpy as np
import pytest
from support import terrazzo

STAND_IN = """
#include <stdint.h>
#include <stdio.h>
typedef struct { int major, minor, patch; const char *hash; unsigned cpu, gpu; } version;
const version *dnnl_version(void) {
  static const version v = {3, 1, 0, "", RUNTIME, 0};
  return &v;
}
#ifdef OMP
void omp_set_num_threads(int n) { (void)n; }
int omp_get_max_threads(void) { return 2; }
#endif
static int isa;
int dnnl_set_max_cpu_isa(int most) {
  isa = most;
  return 0;
}
#ifndef HELD
#define HELD 0
#endif
int dnnl_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
               int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  if (isa == HELD) fputs("stand-in\\n", stderr);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      float sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += (ta == 'N' ? a[i * lda + l] : a[l * lda + i]) *
               (tb == 'N' ? b[l * ldb + j] : b[j * ldb + l]);
      c[i * ldc + j] = alpha * sum + (beta ? beta * c[i * ldc + j] : 0);
    }
  return 0;
}
"""

BLAS = """
#include <stdio.h>
static int threads = 2;
void openblas_set_num_threads(int n) { threads = n; }
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc) {
  if (order != 101 || threads != 1) return;
  fputs("stand-in\\n", stderr);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; l < k; l++)
        sum += (ta == 111 ? a[i * lda + l] : a[l * lda + i]) *
               (tb == 111 ? b[l * ldb + j] : b[j * ldb + l]);
      c[i * ldc + j] = alpha * sum + (beta ? beta * c[i * ldc + j] : 0);
    }
}
"""

PRODUCT = """
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
"""


def product(tmp_path, name, flags, text=STAND_IN, **environment):
    source = tmp_path / "stand_in.c"
    source.write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", *flags, source, "-o", tmp_path / name],
                   check=True)
    (tmp_path / "product.mlir").write_text(PRODUCT)
    a = np.random.default_rng(0).standard_normal((2, 256, 256)).astype(np.float32)
    for k in range(2):
        np.save(tmp_path / f"in_{k}.npy", a[k])
    done = terrazzo("run", tmp_path / "product.mlir", "--input", tmp_path / "in_0.npy",
                    tmp_path / "in_1.npy", "--output", tmp_path,
                    env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path)} | environment)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "out_0.npy"), a[0] @ a[1], atol=1e-3)
    return "stand-in" in done.stderr


OPENMP, TBB = ["-DRUNTIME=2", "-DOMP"], ["-DRUNTIME=4"]


@pytest.mark.parametrize("name", ["libdnnl.so.2", "libdnnl.so.3"])
def test_found_by_name(tmp_path, name):
    assert product(tmp_path, name, OPENMP)
    assert product(tmp_path, name, ["-DRUNTIME=1"])


def test_named_by_the_environment(tmp_path):
    assert product(tmp_path, "mine.so", OPENMP, TERRAZZO_ONEDNN=str(tmp_path / "mine.so"))
    assert not product(tmp_path, "libdnnl.so.3", OPENMP, TERRAZZO_ONEDNN="0")


@pytest.mark.parametrize("kernels, isa", [("v4", 0), ("v3", 7), ("base", 1)])
def test_held_to_what_ours_are(tmp_path, kernels, isa):
    """dnnl_cpu_isa_t: SSE4.1 1, AVX2 7."""
    assert product(tmp_path, "libdnnl.so.3", [*OPENMP, f"-DHELD={isa}"], TERRAZZO_KERNELS=kernels)


def test_refused_where_it_has_threads_of_its_own(tmp_path):
    assert not product(tmp_path, "libdnnl.so.3", TBB)
    assert not product(tmp_path, "libdnnl.so.3", ["-DRUNTIME=2"])


def test_openblas(tmp_path):
    """The second choice, told to take one thread; also where it is named."""
    name = "libother.so"
    assert product(tmp_path, name, [], BLAS, TERRAZZO_ONEDNN=str(tmp_path / name))
    assert not product(tmp_path, name, [], BLAS, TERRAZZO_ONEDNN="0")


LAPACK = """
#include <stdio.h>
void scipy_spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t l) {
  fprintf(stderr, "stand-in %c %d %d %zu\\n", *uplo, *n, *lda, l);
  *info = 0;
}
"""

FACTOR = """
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
      : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %0#0 : tensor<2x2xf32>
}
"""


def test_lapack_as_scipy_brings_it(tmp_path):
    """Named by the environment, its names behind SciPy's; it comes before the system's."""
    (tmp_path / "lapack.c").write_text(LAPACK)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "lapack.c", "-o", tmp_path / "own.so"],
                   check=True)
    (tmp_path / "factor.mlir").write_text(FACTOR)
    np.save(tmp_path / "in.npy", np.eye(2, dtype=np.float32))
    done = terrazzo("run", tmp_path / "factor.mlir", "--input", tmp_path / "in.npy",
                    env=os.environ | {"TERRAZZO_LAPACK": str(tmp_path / "own.so")})
    assert done.returncode == 0, done.stderr
    assert "stand-in L 2 2 1" in done.stderr
