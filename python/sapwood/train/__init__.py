"""Reinforcement learning on the environments: ``python -m sapwood.train ppo --env sapwood/Ant-v0``.

Needs ``pip install 'sapwood[train]'``, which brings torch and gymnasium.
"""
