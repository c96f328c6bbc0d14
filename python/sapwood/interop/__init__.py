"""Steps of a batch as functions that others differentiate: ``sapwood.interop.torch``, ``sapwood.interop.jax``."""
