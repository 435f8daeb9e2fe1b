//! The velocity of a particle: the update rule and the random initialization.

use crate::base::random::Rng;
use crate::simd::words::units;

/// The coefficients of the velocity update.
#[derive(Debug, Clone, Copy)]
pub struct Coefficients {
    /// w, the inertia weight.
    pub inertia: f64,
    /// c1, the weight of the personal best.
    pub cognitive: f64,
    /// c2, the weight of the global best.
    pub social: f64,
}

impl Coefficients {
    /// The new velocity `w v + c1 r1 (p - x) + c2 r2 (g - x)` of one coordinate, with personal best `p` and global
    /// best `g`.
    #[inline]
    pub fn velocity(self, v: f64, x: f64, p: f64, g: f64, r1: f64, r2: f64) -> f64 {
        self.inertia * v + self.cognitive * r1 * (p - x) + self.social * r2 * (g - x)
    }
}

impl Coefficients {
    /// The new velocity of a bit; `bits` are those of position, personal best and global best.
    #[inline]
    pub fn toward_bits(self, v: f64, bits: [bool; 3], r1: f64, r2: f64) -> f64 {
        // Written out, because the compiler vectorizes this conversion, but not `bits.map`.
        let number = |bit: bool| if bit { 1.0 } else { 0.0 };
        let [x, p, g] = [number(bits[0]), number(bits[1]), number(bits[2])];
        self.velocity(v, x, p, g, r1, r2)
    }
}

/// Initial velocities, uniform in [-limit, limit).
pub fn draw(v: &mut [f64], limit: f64, rng: &mut Rng) {
    units(rng, v);
    for v in v {
        *v = limit * (2.0 * *v - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::sigmoid;

    #[test]
    fn velocity_has_the_worked_values() {
        let by = Coefficients { inertia: 1.0, cognitive: 2.0, social: 2.0 };
        assert_eq!(by.velocity(0.0, 0.0, 1.0, 1.0, 0.5, 0.25), 1.5);
        assert_eq!(by.velocity(5.5, 0.0, 1.0, 1.0, 0.5, 0.25), 7.0);
        // Six decimals are printed.
        assert!((sigmoid(1.5) - 0.817_574).abs() < 5e-7);
    }
}
