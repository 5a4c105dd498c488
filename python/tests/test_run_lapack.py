"""LAPACK's routines as JAX calls them on the CPU: `terrazzo run` against XLA:CPU. Vectors agree up
to a sign or phase, so absolute values are compared."""
import jax
import numpy as np
import pytest

from test_run_ops import run

TYPES = ["float32", "float64", "complex64", "complex128"]
lax = jax.lax.linalg


def svd(full, algorithm=None):
    return lambda x: lax.svd(x, full_matrices=full, algorithm=algorithm)


ROUTINES = {
    "getrf": (lax.lu, [2, 5, 4]),
    "getrf, wide": (lax.lu, [4, 7]),
    "getrf, square": (lax.lu, [3, 5, 5]),
    "getrf, singular": (lambda x: lax.lu(x * (jax.numpy.arange(4) != 1)), [2, 4, 4]),
    "geqrf, orgqr": (lambda x: lax.qr(x, full_matrices=False), [2, 3, 6, 4]),
    "geqrf, orgqr, full": (lambda x: lax.qr(x, full_matrices=True), [5, 4]),
    "syevd": (lambda x: lax.eigh(x, symmetrize_input=True), [3, 6, 6]),
    "gesdd": (svd(False), [2, 6, 4]),
    "gesdd, wide": (svd(False), [4, 6]),
    "gesdd, full": (svd(True), [2, 5, 4]),
    "gesdd, values": (lambda x: lax.svd(x, compute_uv=False), [7, 5]),
    "potrf": (lambda x: lax.cholesky(x @ x.conj().mT), [2, 5, 5]),
    "trsm, left": (lambda x: lax.triangular_solve(x, x, left_side=True, lower=True), [2, 5, 5]),
    "trsm, few": (lambda x: lax.triangular_solve(
        x, x[..., :2], left_side=True, transpose_a=True), [2, 4, 4]),
    "trsm, few, right": (lambda x: lax.triangular_solve(x, x[..., :2, :], lower=True), [2, 4, 4]),
    "trsm, right": (lambda x: lax.triangular_solve(
        x, x[..., :3, :], transpose_a=True, conjugate_a=True, unit_diagonal=True), [5, 5]),
    "nothing": (lax.lu, [0, 3, 3]),
    "gehrd": (lax.hessenberg, [2, 5, 5]),
    "sytrd": (lambda x: lax.tridiagonal(x + x.conj().mT, lower=True), [2, 5, 5]),
    "sytrd, upper": (lambda x: lax.tridiagonal(x + x.conj().mT, lower=False), [4, 4]),
    "geev": (lax.eig, [3, 6, 6]),
    "geev, one side": (lambda x: lax.eig(x, compute_left_eigenvectors=False), [7, 7]),
    "geev, values": (lambda x: lax.eig(x, compute_left_eigenvectors=False,
                                       compute_right_eigenvectors=False), [1, 1]),
    "gees": (lax.schur, [2, 6, 6]),
    "gesvd": (svd(False, lax.SvdAlgorithm.QR), [2, 6, 4]),
    "gesvd, full": (svd(True, lax.SvdAlgorithm.QR), [4, 6]),
    "gesvd, values": (lambda x: lax.svd(x, compute_uv=False, algorithm=lax.SvdAlgorithm.QR),
                      [5, 5]),
    "geqp3": (lambda x: lax.qr(x, pivoting=True, full_matrices=False), [2, 6, 4]),
    "geqp3, wide": (lambda x: lax.qr(x, pivoting=True), [3, 5]),
    "ormqr, left": (lambda x: lax.ormqr(x, x[..., 0, :] / 5, x[..., :3]), [2, 6, 4]),
    "ormqr, right": (lambda x: lax.ormqr(x, x[..., 0, :] / 5, x.mT, left=False, transpose=True),
                     [2, 6, 4]),
    "gtsv": (lambda x: lax.tridiagonal_solve(x[..., 0], x[..., 1] + 4, x[..., 2], x), [2, 6, 4]),
    "gtsv, one row": (lambda x: lax.tridiagonal_solve(
        0 * x[..., 0], x[..., 0], 0 * x[..., 0], x), [1, 3]),
    "gees, values": (lambda x: lax.schur(x, compute_schur_vectors=False), [5, 5]),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("routine", ROUTINES)
def test_lapack(tmp_path, routine, name):
    function, shape = ROUTINES[routine]
    random = np.random.default_rng(len(shape))
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        x = random.standard_normal(shape)
        if name.startswith("complex"):
            x = x + 1j * random.standard_normal(shape)
        x = (x + 2 * np.eye(*shape[-2:])).astype(name)
        lowered = jax.jit(function).trace(x).lower(lowering_platforms=("cpu",))
        want = [np.asarray(v) for v in jax.tree.leaves(jax.jit(function)(x))]
    got = run(tmp_path, lowered.as_text(), x)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape and g.dtype == w.dtype
        size = np.abs(w).max(initial=1)
        assert np.abs(np.abs(g) - np.abs(w)).max(initial=0) <= 200 * np.finfo(name).eps * size


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("routine", [lambda x: lax.eig(x)[0], lambda x: lax.schur(x)[0]])
def test_what_is_not_finite(tmp_path, routine, name):
    """LAPACK's balancing ends the process over a NaN; it is the matrix's answer, and no other's."""
    x = np.stack([np.ones((3, 3)), 2 * np.eye(3)]).astype(name)
    x[0, 1, 1] = np.nan
    with jax.enable_x64(True):
        lowered = jax.jit(routine).trace(x).lower(lowering_platforms=("cpu",))
    got, = run(tmp_path, lowered.as_text(), x)
    assert np.isnan(got[0]).all() and not np.isnan(got[1]).any()


def test_a_call_that_nobody_serves(tmp_path, capfd):
    module = """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = stablehlo.custom_call @lapack_snosuch_ffi(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }"""
    with pytest.raises(Exception):
        run(tmp_path, module, np.zeros([2, 2], "float32"))
    assert "lapack_snosuch_ffi" in capfd.readouterr().err
