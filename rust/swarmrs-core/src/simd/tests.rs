use super::*;
use proptest::prelude::*;

/// Every number of 16-column vectors up to the most that a kernel sums at once, and one more.
const N: usize = 80;
const D: usize = 9;

fn strips<K: Kernel>(
    isa: Isa,
    values: &[K::Value],
    (add, remove): (&[u32], &[u32]),
    tile: &Tile,
    from: Init<'_, K::Sum>,
    place: K::Sum,
) -> Vec<K::Sum> {
    let width = tile.columns.len() + 3;
    let mut to = vec![place; ROWS * width];
    let columns = Columns { values, stride: N };
    let packed = K::pack(isa, columns, Change { add, remove });
    K::accumulate(isa, &packed, tile, from, (&mut to, width));
    (0..ROWS).flat_map(|r| to[r * width..][..tile.columns.len()].to_vec()).collect()
}

/// The key of `row` at a distance.
fn key(format: KeyFormat, steps: u64, row: u32) -> f64 {
    f64::from_bits(format.base(steps).to_bits() + u64::from(row))
}

fn tile() -> impl Strategy<Value = Tile> {
    let rows = proptest::array::uniform4(0..N as u32);
    (rows, 0..=4usize, 1..=5usize).prop_map(|(rows, start, count)| Tile {
        rows,
        columns: start * LANES..(start + count).min(N / LANES) * LANES,
    })
}

fn features() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(0..D as u32, 0..12)
}

fn agree<K: Kernel>(values: &[K::Value], add: &[u32], remove: &[u32], tile: &Tile) {
    let sum = |isa| {
        // Every feature first, so that removing never goes below zero.
        let all: Vec<u32> = (0..D as u32).flat_map(|f| [f; 12]).collect();
        let base = strips::<K>(isa, values, (&all, &[]), tile, Init::Zero, K::Sum::default());
        let from = Init::CopyFrom { sums: &base, stride: tile.columns.len() };
        strips::<K>(isa, values, (add, remove), tile, from, K::Sum::default())
    };
    let expected = sum(Isa::Scalar);
    for isa in Isa::available() {
        assert_eq!(expected, sum(isa), "{isa:?}");
    }
}

proptest! {
    #[test]
    fn sums_agree_between_instruction_sets(
        // The ends of the range more often than at random: there products are greatest.
        values in proptest::collection::vec(prop_oneof![Just(0), Just(u16::MAX), any::<u16>()], N * D), tile in tile(), add in features(), remove in features(),
    ) {
        agree::<Manhattan16>(&values, &add, &remove, &tile);
        agree::<Euclidean16>(&values, &add, &remove, &tile);
        agree::<CoarseEuclidean<2>>(&values, &add, &remove, &tile);
        agree::<CoarseEuclidean<4>>(&values, &add, &remove, &tile);
        let whole: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        let sum = |narrow: &[f64], wide: &[f64]| assert_eq!(narrow, wide);
        for isa in Isa::available() {
            sum(
                &strips::<Euclidean16>(isa, &values, (&add, &remove), &tile, Init::InPlace, 1.0),
                &strips::<Euclidean>(isa, &whole, (&add, &remove), &tile, Init::InPlace, 1.0),
            );
        }
        let wide: Vec<f64> = values.iter().map(|&v| f64::from(v) * 8.0).collect();
        agree::<Manhattan>(&wide, &add, &remove, &tile);
        agree::<Euclidean>(&wide, &add, &remove, &tile);
    }

    #[test]
    fn long_sums_agree_between_instruction_sets(
        // Kernels that sum products in 32 bits move them to 64 bits after so many pairs.
        n_features in 250usize..520, low in prop_oneof![Just(0), Just(255)], seed: u16, tile in tile(),
    ) {
        // Extreme values, the sums of whose products are the greatest, and a few others.
        let value = |at: usize| match at.wrapping_mul(usize::from(seed | 1)) % 7 {
            0 => at as u16,
            1..=3 => low,
            _ => u16::MAX,
        };
        let values: Vec<u16> = (0..N * D).map(value).collect();
        let add: Vec<u32> = (0..n_features as u32).map(|at| at % D as u32).collect();
        for features in [(&add[..], &[][..]), (&add[..7], &add[..])] {
            let run = |isa| strips::<Euclidean16>(isa, &values, features, &tile, Init::InPlace, 1e15);
            let expected = run(Isa::Scalar);
            for isa in Isa::available() {
                prop_assert_eq!(&expected, &run(isa), "{:?}", isa);
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_definition(
        values in proptest::collection::vec(any::<u16>(), N * D), tile in tile(), add in features(),
    ) {
        let got = strips::<Manhattan16>(Isa::best(), &values, (&add, &[]), &tile, Init::InPlace, 7);
        let width = tile.columns.len();
        for (at, sum) in got.into_iter().enumerate() {
            let (row, column) = (tile.rows[at / width] as usize, tile.columns.start + at % width);
            let expected: u32 = add.iter().map(|&f| {
                let column_of = &values[f as usize * N..][..N];
                u32::from(column_of[row].abs_diff(column_of[column]))
            }).sum();
            prop_assert_eq!(sum, expected + 7);
        }
    }

    #[test]
    fn selection_agrees_between_instruction_sets_and_with_sorting(
        sums in proptest::collection::vec(0u32..50, ROWS * N), k in 1usize..8, group in 0usize..N / ROWS,
        skip in 0usize..9, end in N - 15..=N, is_symmetric: bool, hidden in proptest::option::of(0..N),
        shuffled in Just((0..N as u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let first: [usize; ROWS] = std::array::from_fn(|lane| group * ROWS + 1 + skip + lane / 2);
        let mask: Option<Vec<f64>> =
            hidden.map(|at| (0..N).map(|c| if c == at { NO_KEY } else { 0.0 }).collect());
        let format = KeyFormat { shift: 7 };
        let start = first[0] / LANES * LANES;
        let tile = SelectTile {
            k, columns: start.min(N)..N, end, first, mask: mask.as_ref().map(|b| &b[start.min(N)..]), index: &shuffled,
            rows: std::array::from_fn(|lane| shuffled[group * ROWS + lane]), group, is_symmetric,
        };
        let run = |isa| {
            let mut keys = vec![NO_KEY; N * k];
            let wide: Vec<f64> = sums.iter().map(|&s| f64::from(s)).collect();
            let (mut bases, mut again) = (vec![0.0; sums.len()], vec![0.0; sums.len()]);
            u32::keys(isa, &sums, format, &mut bases);
            f64::keys(isa, &wide, format, &mut again);
            assert_eq!(bases, again);
            select(isa, (&bases, N), &tile, &mut keys);
            keys
        };
        let keys = run(Isa::Scalar);
        for isa in Isa::available() {
            prop_assert_eq!(&keys, &run(isa), "{:?}", isa);
        }
        let mut expected: Vec<Vec<f64>> = vec![Vec::new(); N];
        for lane in 0..ROWS {
            for column in first[lane].max(tile.columns.start)..end {
                if mask.as_ref().is_some_and(|b| b[column] > 0.0) {
                    continue;
                }
                let steps = u64::from(sums[lane * N + column - tile.columns.start]);
                expected[group * ROWS + lane].push(key(format, steps, shuffled[column]));
                if is_symmetric {
                    expected[column].push(key(format, steps, tile.rows[lane]));
                }
            }
        }
        for (row, mut all) in expected.into_iter().enumerate() {
            all.sort_by(f64::total_cmp);
            all.resize(k, NO_KEY);
            let got: Vec<f64> =
                (0..k).map(|level| keys[(row / ROWS * k + level) * ROWS + row % ROWS]).collect();
            prop_assert_eq!(got, all);
        }
    }

    #[test]
    fn coarse_sums_are_those_of_stripped_values(
        values in proptest::collection::vec(any::<u16>(), N * D), tile in tile(), add in features(),
    ) {
        let stripped: Vec<u16> = values.iter().map(|&value| value >> 3).collect();
        let coarse = strips::<CoarseEuclidean<3>>(Isa::best(), &values, (&add, &[]), &tile, Init::Zero, 0);
        let exact = strips::<Euclidean16>(Isa::best(), &stripped, (&add, &[]), &tile, Init::Zero, 0.0);
        let coarse: Vec<f64> = coarse.into_iter().map(f64::from).collect();
        prop_assert_eq!(coarse, exact);
    }

    #[test]
    fn lists_agree_between_instruction_sets_and_with_sorting(
        sums in proptest::collection::vec(0u32..900, ROWS * N), levels in prop_oneof![1usize..14, Just(MERGED)], group in 0usize..N / ROWS,
        skip in 0usize..9, end in N - 15..=N, drop in 0u32..4,
        index in Just((0..N as u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let start = group * ROWS;
        let first: [usize; ROWS] = std::array::from_fn(|lane| start + 1 + skip + lane / 2);
        let begin = (first[0] / LANES * LANES).min(N);
        let format = ShortFormat { drop, shift: 7 };
        let tile = ShortlistTile { format, levels, columns: begin..N, end, first, index: &index, start };
        let run = |isa| {
            let mut lists = vec![NO_SHORT; N * levels];
            update_shortlists(isa, (&sums, N), &tile, &mut lists);
            lists
        };
        let lists = run(Isa::Scalar);
        for isa in Isa::available() {
            prop_assert_eq!(&lists, &run(isa), "{:?}", isa);
        }
        let mut expected: Vec<Vec<u32>> = vec![Vec::new(); N];
        for lane in 0..ROWS {
            for column in first[lane].max(begin)..end {
                let steps = sums[lane * N + column - begin];
                expected[start + lane].push(format.key(steps, index[column]));
                expected[column].push(format.key(steps, index[start + lane]));
            }
        }
        for (place, mut all) in expected.into_iter().enumerate() {
            all.sort_unstable();
            all.resize(levels, NO_SHORT);
            let at = |level| (place / SIDE * levels + level) * SIDE + place % SIDE;
            let got: Vec<u32> = (0..levels).map(|level| lists[at(level)]).collect();
            prop_assert_eq!(got, all);
        }
    }

    #[test]
    fn a_key_gives_back_its_parts(steps in 0u64..1 << 50, row in 0u32..1 << 11) {
        let format = KeyFormat { shift: 11 };
        prop_assert_eq!(format.parts(key(format, steps, row)), (steps, row as usize));
        prop_assert!(key(format, steps, row) < key(format, steps + 1, 0));
        prop_assert!(key(format, steps, row) < NO_KEY);
    }

    #[test]
    fn tables_agree_between_instruction_sets(
        sums in proptest::collection::vec(-1i64 << 60..1 << 60, 60), table in proptest::collection::vec(-1i64 << 60..1 << 60, 60),
        n in prop_oneof![Just(10usize), Just(15), Just(20), Just(30)],
    ) {
        let run = |isa| {
            let mut all = sums.clone();
            let both = [Cow::from(&sums), Cow::from(&table)];
            add_tables(isa, &mut all, &both);
            remove_tables(isa, &mut all, &[Cow::from(&sums), Cow::from(&sums)]);
            let mut classes = vec![9; n];
            let (first, others) = all.split_at(n);
            greatest(isa, &mut first.to_vec(), others, &mut classes);
            (all, classes)
        };
        let (all, classes) = run(Isa::Scalar);
        prop_assert_eq!(&all, &table);
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &(all.clone(), classes.clone()), "{:?}", isa);
        }
        for (case, &class) in classes.iter().enumerate() {
            let of = |class: usize| table[class * n + case];
            let expected = (0..60 / n).rev().max_by_key(|&class| of(class)).unwrap();
            prop_assert_eq!(class as usize, expected);
        }
    }

    #[test]
    fn separation_agrees_between_instruction_sets(
        sums in proptest::collection::vec(any::<u32>(), 1..70), own in 0i32..3, others in proptest::collection::vec(-1i32..3, 70),
        learns: bool,
    ) {
        let others = &others[..sums.len()];
        let run = |isa| {
            let mut separations = vec![Separation::default(); if learns { sums.len() } else { 0 }];
            let found = u32::separate(isa, &sums, Classes { own, others }, &mut separations);
            (found, separations)
        };
        let (found, separations) = run(Isa::Scalar);
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &(found, separations.clone()), "{:?}", isa);
        }
        let of = |same: bool| sums.iter().zip(others)
            .filter(move |&(_, &class)| class >= 0 && (class == own) == same).map(|(&sum, _)| sum);
        prop_assert_eq!(found.other, of(false).min().unwrap_or(u32::MAX));
        prop_assert_eq!(found.same, of(true).max().unwrap_or(0));
    }
}
