"""What other rooms need of this one beside its public names."""

from ._kl import kl_limits

__all__ = ["kl_limits"]
