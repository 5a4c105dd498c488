"""NumPyro: eight schools by the no-U-turn sampler, and by a variational guide."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.infer.reparam import TransformReparam

EFFECT = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools(error, effect=None):
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    spread = numpyro.sample("spread", dist.HalfCauchy(5))
    with numpyro.plate("school", 8):
        with numpyro.handlers.reparam(config={"theta": TransformReparam()}):
            theta = numpyro.sample("theta", dist.TransformedDistribution(
                dist.Normal(0.0, 1.0), dist.transforms.AffineTransform(mean, spread)))
        numpyro.sample("effect", dist.Normal(theta, error), obs=effect)


def sample(num_warmup, num_samples):
    mcmc = MCMC(NUTS(schools), num_warmup=num_warmup, num_samples=num_samples, progress_bar=False)
    mcmc.run(jax.random.key(0), jnp.asarray(ERROR), effect=jnp.asarray(EFFECT))
    return mcmc.get_samples()


def test_nuts(both):
    """The first draws are the same; later ones part as chaos has it, and their means agree."""
    with jax.enable_x64(True):
        first, want = both(sample, 0, 4)
        np.testing.assert_allclose(first["mean"][:2], want["mean"][:2], rtol=1e-4)
        got, want = both(sample, 300, 400)
    for name in ("mean", "spread", "theta"):
        error = want[name].std(0) * 0.25
        assert (np.abs(got[name].mean(0) - want[name].mean(0)) < error).all()
    assert 3 < got["mean"].mean() < 6


def fit():
    guide = AutoNormal(schools)
    svi = SVI(schools, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    result = svi.run(jax.random.key(1), 200, jnp.asarray(ERROR), effect=jnp.asarray(EFFECT),
                     progress_bar=False)
    draws = Predictive(guide, params=result.params, num_samples=8)(
        jax.random.key(2), jnp.asarray(ERROR))
    return result.losses, draws["mean"]


def test_variational(agree):
    losses, _ = agree(fit, rtol=1e-2, atol=1e-2)
    assert losses[-20:].mean() < losses[:20].mean()
