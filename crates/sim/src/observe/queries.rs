//! Rays and distances in the present state.

use std::sync::Arc;

use geometry::{RayHit, SceneQueries, Separation};
use spatial::{Pose, Vec3};

use super::{Frame, Observation};

impl Observation<'_> {
    /// The first geom that a ray meets within `limit`, m, as [`SceneQueries::ray`]: `direction` is a unit vector. Geoms that are invisible
    /// (of opacity 0) or that `may_hit` leaves out are none; `may_hit` gets the geom and its body.
    pub fn ray(
        &mut self,
        origin: Vec3<f64>,
        direction: Vec3<f64>,
        limit: f64,
        may_hit: impl Fn(usize, usize) -> bool,
    ) -> Option<RayHit> {
        let queries = self.take_queries();
        let scene = self.scene;
        let hit = queries.ray(origin, direction, limit, |geom| {
            let of = &scene.geoms[geom];
            (of.rgba[3] > 0.0 && may_hit(geom, of.body)).then(|| self.pose(Frame::Geom(geom)))
        });
        *self.queries = Some(queries);
        hit
    }

    /// How far two geoms are apart, as [`SceneQueries::separation`]; whether they may touch or not.
    pub fn separation(&mut self, geoms: [usize; 2]) -> Option<Separation> {
        let poses: [Pose<f64>; 2] = geoms.map(|geom| self.pose(Frame::Geom(geom)));
        let mut queries = self.take_queries();
        let separation = queries.separation(geoms, poses);
        *self.queries = Some(queries);
        separation
    }

    fn take_queries(&mut self) -> Box<SceneQueries> {
        self.queries.take().unwrap_or_else(|| Box::new(SceneQueries::new(Arc::clone(self.scene))))
    }
}
