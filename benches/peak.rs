//! What the inner loops of the k-NN kernels reach alone, with all values in the L1 cache, on one core.
//!
//! Prints a line `instruction-set metric rate` for each, the rate in 10^9 element operations a second: one for each feature
//! and pair of rows. `benches/kernels.py --peak` compares whole evaluations with it. The loops are those of
//! `swarmrs-core/src/simd`: sums of min(a, b) and of a b, for two features of 16 bits at once.

#[cfg(target_arch = "x86_64")]
mod loops {
    #![allow(clippy::wildcard_imports, reason = "intrinsics by the dozen")]
    #![allow(clippy::needless_range_loop, reason = "vectors stay in registers")]

    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::time::Instant;

    /// Pairs of features, rows of a tile, columns in a panel, and panels.
    const PAIRS: usize = 64;
    const ROWS: usize = 4;
    const LANES: usize = 16;
    const PANELS: usize = 4;
    /// Calls that are timed at once, and how often.
    const CALLS: usize = 1000;
    const ROUNDS: usize = 300;

    type Panel = [[u32; LANES]; PAIRS];

    /// A loop over `$width` panels, in vectors of `$lanes` columns.
    macro_rules! peak {
        ($name:ident, $features:literal, $vector:ty, $lanes:literal, $width:literal, $load:ident, $zero:ident, $set:ident,
         $ones:ident, |$sum:ident, $others:ident, $own:ident, $one:ident| $term:expr) => {
            #[target_feature(enable = $features)]
            fn $name(
                panels: &[Panel; PANELS],
                rows: &[[u32; PAIRS]; ROWS],
            ) -> [[$vector; $width]; ROWS] {
                let mut sums = [[$zero(); $width]; ROWS];
                #[allow(unused_variables, reason = "for sums of minima only")]
                let $one = $ones(1);
                for pair in 0..PAIRS {
                    let mut all = [$zero(); $width];
                    for w in 0..$width {
                        let lane = w * $lanes;
                        let values = &panels[lane / LANES][pair][lane % LANES..][..$lanes];
                        // SAFETY: there are as many values as lanes.
                        all[w] = unsafe { $load(values.as_ptr().cast()) };
                    }
                    for r in 0..ROWS {
                        let $own = $set(rows[r][pair].cast_signed());
                        for w in 0..$width {
                            let ($sum, $others) = (sums[r][w], all[w]);
                            sums[r][w] = $term;
                        }
                    }
                }
                sums
            }
        };
    }

    peak!(
        avx2_min,
        "avx2",
        __m256i,
        8,
        2,
        _mm256_loadu_si256,
        _mm256_setzero_si256,
        _mm256_set1_epi32,
        _mm256_set1_epi16,
        |sum, others, own, one| _mm256_add_epi32(
            sum,
            _mm256_madd_epi16(_mm256_min_epi16(others, own), one)
        )
    );
    peak!(
        avx2_product,
        "avx2",
        __m256i,
        8,
        2,
        _mm256_loadu_si256,
        _mm256_setzero_si256,
        _mm256_set1_epi32,
        _mm256_set1_epi16,
        |sum, others, own, one| _mm256_add_epi32(sum, _mm256_madd_epi16(others, own))
    );
    peak!(
        avx512_min,
        "avx512f,avx512bw,avx512vnni",
        __m512i,
        16,
        4,
        _mm512_loadu_si512,
        _mm512_setzero_si512,
        _mm512_set1_epi32,
        _mm512_set1_epi16,
        |sum, others, own, one| _mm512_dpwssd_epi32(sum, _mm512_min_epi16(others, own), one)
    );
    peak!(
        avx512_product,
        "avx512f,avx512bw,avx512vnni",
        __m512i,
        16,
        4,
        _mm512_loadu_si512,
        _mm512_setzero_si512,
        _mm512_set1_epi32,
        _mm512_set1_epi16,
        |sum, others, own, one| _mm512_dpwssd_epi32(sum, others, own)
    );

    /// The best rate of a loop over so many columns.
    #[allow(clippy::disallowed_methods, reason = "a bench reads the clock, no search does")]
    fn rate(columns: usize, call: impl Fn()) -> f64 {
        let operations = (CALLS * 2 * PAIRS * ROWS * columns) as f64;
        let seconds = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            (0..CALLS).for_each(|_| call());
            start.elapsed().as_secs_f64()
        });
        operations / seconds.fold(f64::INFINITY, f64::min) / 1e9
    }

    /// Prints the rates of all loops that this processor can run.
    pub fn print() {
        let panels: [Panel; PANELS] = [[[0x0123_0456; LANES]; PAIRS]; PANELS];
        let rows = [[0x0234_0345; PAIRS]; ROWS];
        macro_rules! print_rate {
            ($isa:literal, $metric:literal, $name:ident, $columns:literal) => {
                let rate = rate($columns, || {
                    // SAFETY: the features were detected.
                    black_box(unsafe { $name(black_box(&panels), black_box(&rows)) });
                });
                println!("{} {} {rate:.1}", $isa, $metric);
            };
        }
        if is_x86_feature_detected!("avx2") {
            print_rate!("avx2", "manhattan", avx2_min, 16);
            print_rate!("avx2", "euclidean", avx2_product, 16);
        }
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni") {
            print_rate!("avx512", "manhattan", avx512_min, 64);
            print_rate!("avx512", "euclidean", avx512_product, 64);
        }
    }
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    loops::print();
}
