"""Reinforcement learning on the environments: ``python -m sapwood.train ppo --env sapwood/Ant-v0``.

Training needs ``pip install 'sapwood[train]'``, which brings torch and gymnasium. :func:`load_policy` needs neither.
"""

from sapwood.train.policy import Policy, load_policy

__all__ = ["Policy", "load_policy"]
