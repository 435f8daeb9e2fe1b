//! Transcendental functions that give the same bits on every platform.
//!
//! The standard library uses the math library of the platform, whose results differ in the last bits; traces must not.

/// e to the power `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// The natural logarithm of `x`.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The binary logarithm of `x`.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// The decimal logarithm of `x`.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// The cosine of `x`.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The logistic function 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// The cumulative distribution function of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_cdf_has_the_tabulated_values() {
        // Ten decimals, and four digits where the share is tiny.
        for (z, expected) in
            [(-1.0, 0.158_655_253_9), (0.0, 0.5), (1.96, 0.975_002_104_9), (9.0, 1.0)]
        {
            assert!((normal_cdf(z) - expected).abs() < 5e-11, "{z}");
        }
        assert!((normal_cdf(-30.0) / 4.907e-198 - 1.0).abs() < 1e-4);
        assert_eq!(normal_cdf(-40.0), 0.0);
    }

    #[test]
    fn sigmoid_has_the_tabulated_values() {
        // Six decimals are what the table prints.
        for (x, expected) in [(-6.0, 0.002_473), (0.0, 0.5), (2.0, 0.880_797), (6.0, 0.997_527)] {
            assert!((sigmoid(x) - expected).abs() < 5e-7, "S({x})");
        }
    }
}
