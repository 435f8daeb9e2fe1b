//! Transcendental functions that give the same bits on every platform.
//!
//! The standard library forwards these to the platform's own library, whose last bits differ; a trace must not.

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

/// The logistic function 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoid_has_the_tabulated_values() {
        // Six decimals are what the table prints.
        for (x, expected) in [(-6.0, 0.002_473), (0.0, 0.5), (2.0, 0.880_797), (6.0, 0.997_527)] {
            assert!((sigmoid(x) - expected).abs() < 5e-7, "S({x})");
        }
    }
}
