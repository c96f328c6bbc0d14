"""Steps of a batch or a simulation as functions that others differentiate.

``sapwood.interop.torch``, ``sapwood.interop.jax``.
"""
