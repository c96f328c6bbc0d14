//! `solref` and `solimp`: how much a contact, a limit or an equality yields.

use multibody::{Compliance, Reference};

use super::defaults::Attributes;
use super::option::Options;
use crate::LoadError;
use crate::warnings::Warnings;

/// The compliance that a pair of attributes like `solref` and `solimp` asks for: near-rigid when neither the element nor its
/// defaults set them.
pub(super) fn compliance(
    attributes: &Attributes<'_, '_>,
    [solref, solimp]: [&'static str; 2],
    options: &Options,
    warnings: &mut Warnings,
) -> Result<Compliance, LoadError> {
    let Some((at, _, _)) = attributes.find(&[solref]).or_else(|| attributes.find(&[solimp])) else {
        return Ok(Compliance::NearRigid);
    };
    let default = Reference::default();
    let mut reference = Reference {
        solref: attributes.leading(solref, default.solref)?,
        solimp: attributes.leading(solimp, default.solimp)?,
        pyramid: 0.0,
        least_steps: if options.flags.safe_references { default.least_steps } else { 0.0 },
    };
    let [first, second] = reference.solref;
    if (first > 0.0) != (second > 0.0) {
        warnings.add_attribute(
            at,
            solref,
            "one number is positive, the other is not: the default counts, as in MuJoCo",
        );
        reference.solref = default.solref;
    }
    if reference.is_valid() {
        return Ok(Compliance::Reference(reference));
    }
    let message = format!("{solref}=\"{first} {second}\": expected numbers that make a finite stiffness and damping");
    Err(at.error(message))
}
