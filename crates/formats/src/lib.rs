//! MJCF, URDF and meshes in; trajectories out.
