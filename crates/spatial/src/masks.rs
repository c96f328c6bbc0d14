//! Choices by lane: masks, which are 1 in some lanes and 0 in the others, and bits, one for each lane, the first lane's the lowest.

use crate::{Real, Vec3};

/// A constant in every lane.
#[inline(always)]
pub fn wide<T: Real>(x: f64) -> T {
    T::from_f64(x)
}

/// `yes` where the mask is above ½, else `no`.
#[inline(always)]
pub fn select<T: Real>(mask: T, yes: T, no: T) -> T {
    T::from_f64(0.5).if_less(mask, yes, no)
}

/// The same of a vector.
#[inline(always)]
pub fn select3<T: Real>(mask: T, yes: Vec3<T>, no: Vec3<T>) -> Vec3<T> {
    Vec3::new(select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z))
}

/// The bits of all lanes.
#[inline(always)]
pub fn all_lanes<T: Real>() -> u32 {
    (1 << T::LANES) - 1
}

/// The lanes in which a number is positive.
#[inline(always)]
pub fn positive<T: Real>(x: T) -> u32 {
    T::ZERO.lanes_less(x)
}

/// The lanes in which a mask is above ½.
#[inline(always)]
pub fn lanes_of<T: Real>(mask: T) -> u32 {
    T::from_f64(0.5).lanes_less(mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::F64x4;

    #[test]
    fn bits_and_masks_tell_the_same() {
        for bits in 0..16 {
            let mask = F64x4::mask(bits);
            assert_eq!(mask.to_array(), std::array::from_fn(|k| f64::from(bits >> k & 1)));
            assert_eq!((lanes_of(mask), positive(mask)), (bits, bits));
            assert_eq!(select(mask, wide(2.0), F64x4::ZERO), mask + mask);
        }
        assert_eq!((f64::mask(1), f64::mask(0), all_lanes::<f64>(), all_lanes::<F64x4>()), (1.0, 0.0, 1, 15));
    }
}
