//! `<contact>`: explicit pairs, and pairs of bodies that never touch.

use geometry::PairSpec;

use super::Reader;
use super::surface;
use crate::LoadError;
use crate::xml::Element;

impl<'a> Reader<'_, 'a> {
    /// Reads every `<contact>` below the root.
    pub(super) fn contacts(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in root.children_named("contact").flat_map(Element::children) {
            match element.name() {
                "pair" => self.pair(element)?,
                "exclude" => {
                    let body = |name: &str| self.names.find(element, name, "body");
                    self.scene.excluded.push([body("body1")?, body("body2")?]);
                    element.skip(&["name"]);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn pair(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let attributes = self.defaults.attributes(element, 0)?;
        let geoms = [self.names.find(element, "geom1", "geom")?, self.names.find(element, "geom2", "geom")?];
        // What a pair does not set has its default, whatever its geoms say.
        let friction = surface::pair_friction(&attributes)?;
        let material = surface::material(&attributes, friction, &self.options, &mut self.warnings)?;
        // MuJoCo looks at it under elliptic cones alone.
        if attributes.has(&["solreffriction"]) && self.options.pyramid == 0.0 {
            let message = "friction of contacts does not creep: ignored";
            self.warnings.add_attribute(element, "solreffriction", message);
        }
        attributes.skip(&["name"]);
        let margin = attributes.number("margin")?.unwrap_or(0.0);
        for name in ["gap", "adhesion"] {
            if attributes.number(name)?.is_some_and(|v| v != 0.0) {
                self.warnings.add_attribute(element, name, "not simulated: ignored");
            }
        }
        if self.options.flags.contact {
            let material = self.surfaces.index(material);
            self.scene.pairs.push(PairSpec { geoms, material, margin });
        }
        Ok(())
    }
}
