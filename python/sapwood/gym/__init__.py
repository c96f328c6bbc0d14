"""The MuJoCo environments of Gymnasium and tasks of dm_control's suite, on Sapwood.

::

    import gymnasium
    import sapwood.gym                                             # registers them

    env = gymnasium.make("sapwood/Ant-v0")
    envs = gymnasium.make_vec("sapwood/Ant-v0", num_envs=256)      # one batch: lanes and threads

Observations, rewards and ends of episodes are those of the v5 definitions, on the model files of the installed
gymnasium; the motion is Sapwood's. ``docs/gymnasium.md`` says what differs. Needs ``pip install 'sapwood[gym]'``.
"""

try:
    from gymnasium.envs.registration import register, registry  # pyright: ignore[reportUnknownVariableType]
except ImportError as _error:
    _message = "sapwood.gym needs gymnasium: pip install 'sapwood[gym]'"
    raise ImportError(_message) from _error

from sapwood.gym._device import DeviceVectorEnv
from sapwood.gym._device_imitation import DeviceImitationVectorEnv
from sapwood.gym._imitation import ImitationEnv, ImitationVectorEnv
from sapwood.gym._single import (
    AntEnv,
    HalfCheetahEnv,
    HopperEnv,
    HumanoidEnv,
    HumanoidStandupEnv,
    InvertedDoublePendulumEnv,
    InvertedPendulumEnv,
    PusherEnv,
    ReacherEnv,
    SapwoodEnv,
    SuiteEnv,
    SwimmerEnv,
    Walker2dEnv,
)
from sapwood.gym._suite import SUITE
from sapwood.gym._tasks import TASKS
from sapwood.gym._vector import (
    AntVectorEnv,
    HalfCheetahVectorEnv,
    HopperVectorEnv,
    HumanoidStandupVectorEnv,
    HumanoidVectorEnv,
    InvertedDoublePendulumVectorEnv,
    InvertedPendulumVectorEnv,
    PusherVectorEnv,
    ReacherVectorEnv,
    SapwoodVectorEnv,
    SuiteVectorEnv,
    SwimmerVectorEnv,
    Walker2dVectorEnv,
)


def register_envs() -> None:
    """Register ``sapwood/Ant-v0``, ``sapwood/dm-walker-run-v0`` and the others with Gymnasium, where they are not.

    Importing this module does it.
    """
    for task, options in TASKS.items():
        name = f"sapwood/{task}-v0"
        if name not in registry:
            register(
                id=name,
                entry_point=f"sapwood.gym:{task}Env",
                vector_entry_point=f"sapwood.gym:{task}VectorEnv",
                max_episode_steps=options.max_episode_steps,
                reward_threshold=options.reward_threshold,
            )
    if "sapwood/Imitation-v0" not in registry:
        register(
            id="sapwood/Imitation-v0",
            entry_point="sapwood.gym:ImitationEnv",
            vector_entry_point="sapwood.gym:ImitationVectorEnv",
            max_episode_steps=600,
        )
    for task, options in SUITE.items():
        name = f"sapwood/dm-{task}-v0"
        if name not in registry:
            register(
                id=name,
                entry_point="sapwood.gym:SuiteEnv",
                vector_entry_point="sapwood.gym:SuiteVectorEnv",
                kwargs={"task": task},
                max_episode_steps=options.max_episode_steps,
            )


register_envs()

__all__ = [
    "SUITE",
    "TASKS",
    "AntEnv",
    "AntVectorEnv",
    "DeviceImitationVectorEnv",
    "DeviceVectorEnv",
    "HalfCheetahEnv",
    "HalfCheetahVectorEnv",
    "HopperEnv",
    "HopperVectorEnv",
    "HumanoidEnv",
    "HumanoidStandupEnv",
    "HumanoidStandupVectorEnv",
    "HumanoidVectorEnv",
    "ImitationEnv",
    "ImitationVectorEnv",
    "InvertedDoublePendulumEnv",
    "InvertedDoublePendulumVectorEnv",
    "InvertedPendulumEnv",
    "InvertedPendulumVectorEnv",
    "PusherEnv",
    "PusherVectorEnv",
    "ReacherEnv",
    "ReacherVectorEnv",
    "SapwoodEnv",
    "SapwoodVectorEnv",
    "SuiteEnv",
    "SuiteVectorEnv",
    "SwimmerEnv",
    "SwimmerVectorEnv",
    "Walker2dEnv",
    "Walker2dVectorEnv",
    "register_envs",
]
