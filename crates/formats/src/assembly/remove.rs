//! Elements taken out of an assembly, with all that refers to them.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::sensors::Indices;
use super::{Assembly, map_camera, map_equality, map_transmission};

/// A kind of elements of an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ElementKind {
    Body,
    Joint,
    Geom,
    Site,
    Camera,
    Actuator,
    Tendon,
    Equality,
    Sensor,
    SoftBody,
    Keyframe,
}

/// Where the elements of each kind are after a removal, in the order of [`ElementKind`]; None of those that are gone.
pub type Moved = [Vec<Option<usize>>; 11];

/// New indices while they are found; notes whether something was asked for that is gone.
struct Map<'a> {
    moved: &'a Moved,
    has_missed: Cell<bool>,
}

impl Map<'_> {
    fn of(&self, kind: ElementKind, index: usize) -> usize {
        self.moved[kind as usize].get(index).copied().flatten().unwrap_or_else(|| {
            self.has_missed.set(true);
            0
        })
    }

    /// Elements of a kind after those that they refer to have got new indices: what refers to something that is gone, goes.
    fn keep<T>(&self, all: &mut Vec<T>, own: Option<usize>, mut refer: impl FnMut(&mut T)) -> Vec<Option<usize>> {
        let (mut next, mut count) = (Vec::with_capacity(all.len()), 0);
        all.retain_mut(|element| {
            self.has_missed.set(own == Some(next.len()));
            refer(element);
            let stays = !self.has_missed.get();
            next.push(stays.then_some(count));
            count += usize::from(stays);
            stays
        });
        next
    }
}

impl Assembly {
    /// Removes an element and all that refers to it: with a body what hangs from it, with a joint its actuators, constraints and sensors. Soft
    /// bodies are let go by a body that is removed; keyframes keep what they say of others. Returns where the others are.
    ///
    /// # Panics
    /// When there is no such element, or it is the world.
    pub fn remove(&mut self, kind: ElementKind, index: usize) -> Moved {
        use ElementKind::*;
        assert!(kind != Body || index > 0, "the world stays");
        let mut moved: Moved = Default::default();
        let own = |of: ElementKind| (kind == of).then_some(index);
        // Parents come before their children, so that the indices of those before are enough.
        let (mut bodies, mut count) = (Vec::<Option<usize>>::new(), 0);
        self.bodies.retain_mut(|body| {
            let at = bodies.len();
            let parent = if at == 0 { Some(0) } else { bodies[body.spec.parent] };
            body.spec.parent = parent.unwrap_or(0);
            let stays = parent.is_some() && own(Body) != Some(at);
            bodies.push(stays.then_some(count));
            count += usize::from(stays);
            stays
        });
        moved[Body as usize] = bodies;
        macro_rules! keep {
            ($kind:ident, $elements:ident, |$map:ident, $element:ident| $refer:expr) => {
                let $map = Map { moved: &moved, has_missed: Cell::new(false) };
                let next = $map.keep(&mut self.$elements, own($kind), |$element| $refer);
                moved[$kind as usize] = next;
            };
        }
        keep!(Joint, joints, |map, joint| joint.body = map.of(Body, joint.body));
        keep!(Geom, geoms, |map, geom| geom.geom.body = map.of(Body, geom.geom.body));
        keep!(Site, sites, |map, site| site.body = map.of(Body, site.body));
        keep!(Camera, cameras, |map, camera| {
            camera.body = map.of(Body, camera.body);
            map_camera(&mut camera.mode, &|body| map.of(Body, body));
        });
        keep!(Tendon, tendons, |map, tendon| indices(&map, |indices| indices.map_tendon(tendon)));
        // Further controls go with the actuator that they belong to.
        let is_gone = Cell::new(false);
        keep!(Actuator, actuators, |map, actuator| {
            if actuator.transmission == multibody::Transmission::Input {
                map.has_missed.set(is_gone.get() || map.has_missed.get());
                return;
            }
            let [joints, tendons, sites, bodies] = [Joint, Tendon, Site, Body].map(|kind| {
                let map = &map;
                move |index| map.of(kind, index)
            });
            map_transmission(&mut actuator.transmission, &joints, &tendons, &sites, &bodies);
            is_gone.set(map.has_missed.get());
        });
        keep!(Equality, equalities, |map, equality| {
            let [bodies, joints, tendons] = [Body, Joint, Tendon].map(|kind| {
                let map = &map;
                move |index| map.of(kind, index)
            });
            map_equality(&mut equality.kind, &bodies, &joints, &tendons);
        });
        keep!(Sensor, sensors, |map, sensor| indices(&map, |indices| indices.map(&mut sensor.kind)));
        keep!(SoftBody, soft_bodies, |map, soft| {
            soft.body = map.of(Body, soft.body);
            let holds = map.has_missed.get();
            soft.held.retain_mut(|(_, body, _)| {
                map.has_missed.set(false);
                *body = map.of(Body, *body);
                !map.has_missed.get()
            });
            map.has_missed.set(holds);
        });
        keep!(Keyframe, keyframes, |map, key| {
            let _ = &map;
            (key.q, key.v) = (moved_keys(&moved[Joint as usize], &key.q), moved_keys(&moved[Joint as usize], &key.v));
            key.ctrl = moved_keys(&moved[Actuator as usize], &key.ctrl);
            key.mocap = moved_keys(&moved[Body as usize], &key.mocap);
        });
        let map = Map { moved: &moved, has_missed: Cell::new(false) };
        map.keep(&mut self.pairs, None, |pair| pair.geoms = pair.geoms.map(|geom| map.of(Geom, geom)));
        map.keep(&mut self.excluded, None, |pair| *pair = pair.map(|body| map.of(Body, body)));
        map.keep(&mut self.strings_at_rest, None, |tendon| *tendon = map.of(Tendon, *tendon));
        moved
    }

    /// Gives an element another name.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn rename(&mut self, kind: ElementKind, index: usize, name: &str) {
        let of = match kind {
            ElementKind::Body => &mut self.bodies[index].spec.name,
            ElementKind::Joint => &mut self.joints[index].spec.name,
            ElementKind::Geom => &mut self.geoms[index].geom.name,
            ElementKind::Site => &mut self.sites[index].name,
            ElementKind::Camera => &mut self.cameras[index].name,
            ElementKind::Actuator => &mut self.actuators[index].name,
            ElementKind::Tendon => &mut self.tendons[index].name,
            ElementKind::Equality => &mut self.equalities[index].name,
            ElementKind::Sensor => &mut self.sensors[index].name,
            ElementKind::SoftBody => &mut self.soft_bodies[index].description.name,
            ElementKind::Keyframe => &mut self.keyframes[index].name,
        };
        name.clone_into(of);
    }
}

fn indices(map: &Map<'_>, then: impl FnOnce(&Indices<'_>)) {
    use ElementKind::*;
    then(&Indices {
        bodies: &|body| map.of(Body, body),
        joints: &|joint| map.of(Joint, joint),
        geoms: &|geom| map.of(Geom, geom),
        sites: &|site| map.of(Site, site),
        tendons: &|tendon| map.of(Tendon, tendon),
        actuators: &|actuator| map.of(Actuator, actuator),
        cameras: &|camera| map.of(Camera, camera),
    });
}

/// Entries by index under their new ones.
fn moved_keys<T: Clone>(moved: &[Option<usize>], entries: &BTreeMap<usize, T>) -> BTreeMap<usize, T> {
    entries.iter().filter_map(|(index, value)| Some(((*moved.get(*index)?)?, value.clone()))).collect()
}
