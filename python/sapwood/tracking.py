"""Characters that follow motions by PD control, and how far from them they are.

For example::

    import sapwood as sw

    result = sw.tracking.track(sw.characters.dog(), "trot", control="maba", target="end", dt=1 / 60)
    print(result.rms, result.errors.shape)
    result.replay.save("trot.html")
"""

from sapwood._sapwood import Tracking, track

__all__ = ["Tracking", "track"]
