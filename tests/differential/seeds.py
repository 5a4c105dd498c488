"""What generators of programs that JAX runs share: a range of seeds, Terrazzo beside XLA:CPU."""
import sys

import jax


def main(check):
    """python GENERATOR FIRST LAST: check(seed, ours, other) says of each whether it is right."""
    first, last = int(sys.argv[1]), int(sys.argv[2])
    ours, other = jax.devices("terrazzo")[0], jax.devices("cpu")[0]
    wrong = sum(not check(seed, ours, other) for seed in range(first, last))
    print(f"{last - first - wrong} right, {wrong} wrong")
    sys.exit(wrong > 0)
