//! An archive of the best trade-offs met so far.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::pareto::{Point, by_costs, crowding, dominates, hypervolume};
use crate::search::algorithm::Evaluation;

/// A subset and its two costs.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// What was tried.
    pub subset: Subset,
    /// Its cost, and a second one: mostly the share of features it has.
    pub costs: Point,
}

impl TradeOff {
    /// The trade-off of cost and size that was told.
    pub fn of(told: &Evaluation) -> Self {
        Self::with(told, told.subset.count() as f64 / told.subset.len() as f64)
    }

    /// The trade-off of what was told and a second cost.
    pub fn with(told: &Evaluation, second: f64) -> Self {
        Self { subset: told.subset.clone(), costs: [told.cost.value(), second] }
    }
}

/// What the trade-offs dominate of all that costs at most 1 in both ways.
pub fn dominated_area<'a>(all: impl IntoIterator<Item = &'a TradeOff>) -> f64 {
    let points: Vec<Point> = all.into_iter().map(|one| one.costs).collect();
    hypervolume(&points, [1.0, 1.0])
}

/// Trade-offs of which none dominates another and no two cost the same, in the order of their
/// costs.
#[derive(Debug)]
pub struct Archive {
    limit: usize,
    members: Vec<TradeOff>,
    /// The room around each.
    room: Vec<f64>,
}

impl Archive {
    /// An empty archive that holds at most `limit`.
    pub fn new(limit: usize) -> Self {
        Self { limit, members: Vec::new(), room: Vec::new() }
    }

    /// Its members, in the order of their costs.
    pub fn members(&self) -> &[TradeOff] {
        &self.members
    }

    /// Takes in what nothing dominates; of equal costs the smaller bit pattern stays. Then the most
    /// crowded go, one after the other, until the limit holds.
    pub fn learn<'a>(&mut self, tried: impl IntoIterator<Item = &'a TradeOff>) {
        for new in tried {
            self.insert(new);
        }
        self.members.sort_by(|a, b| by_costs(&a.costs, &b.costs));
        self.measure_room();
        while self.members.len() > self.limit {
            let least = self.room.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            let Some((crowded, _)) = least else { break };
            self.members.remove(crowded);
            self.measure_room();
        }
    }

    fn insert(&mut self, new: &TradeOff) {
        let is_beaten = self.members.iter().any(|old| {
            dominates(old.costs, new.costs) || (old.costs == new.costs && old.subset <= new.subset)
        });
        if !is_beaten {
            let stays = |old: &TradeOff| old.costs != new.costs && !dominates(new.costs, old.costs);
            self.members.retain(stays);
            self.members.push(new.clone());
        }
    }

    fn measure_room(&mut self) {
        self.room = crowding(&self.members.iter().map(|member| member.costs).collect::<Vec<_>>());
    }

    /// The one with more room around it of two drawn at random; the first of equals.
    ///
    /// # Panics
    /// When the archive is empty.
    pub fn leader(&self, rng: &mut Rng) -> &Subset {
        let (first, second) = (rng.below(self.members.len()), rng.below(self.members.len()));
        let winner = if self.room[second] > self.room[first] { second } else { first };
        &self.members[winner].subset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use proptest::prelude::*;

    fn trade_off((cost, size, low): (u8, usize, usize)) -> TradeOff {
        let subset = Subset::from_indices(16, low..low + size);
        TradeOff { costs: [f64::from(cost) / 16.0, size as f64 / 16.0], subset }
    }

    fn costs(archive: &Archive) -> Vec<Point> {
        archive.members.iter().map(|member| member.costs).collect()
    }

    /// Batches on a coarse grid, so that equal costs occur.
    fn batches() -> impl Strategy<Value = Vec<Vec<TradeOff>>> {
        let one = (0u8..16, 1usize..13, 0usize..4).prop_map(trade_off);
        proptest::collection::vec(proptest::collection::vec(one, 0..12), 1..8)
    }

    #[test]
    fn of_equal_costs_the_smaller_pattern_stays() {
        let (one, other) = (trade_off((3, 2, 0)), trade_off((3, 2, 2)));
        let smaller = if one.subset < other.subset { &one } else { &other };
        for pair in [[&one, &other], [&other, &one]] {
            let mut archive = Archive::new(9);
            archive.learn(pair);
            assert_eq!(archive.members(), std::slice::from_ref(smaller));
        }
    }

    #[test]
    fn over_its_limit_the_most_crowded_goes_and_room_is_measured_anew() {
        // Sizes 1, 2, 3, 8, 9: first 2 goes, then 3 has more room than 8.
        let all = [(15, 1), (12, 2), (11, 3), (2, 8), (1, 9)];
        let all: Vec<TradeOff> =
            all.into_iter().map(|(cost, size)| trade_off((cost, size, 0))).collect();
        let mut archive = Archive::new(4);
        archive.learn(&all);
        let sizes = |archive: &Archive| -> Vec<usize> {
            archive.members.iter().map(|member| member.subset.count()).collect()
        };
        assert_eq!(sizes(&archive), [9, 8, 3, 1]);
        let mut archive = Archive::new(3);
        archive.learn(&all);
        assert_eq!(sizes(&archive), [9, 3, 1]);
    }

    #[test]
    fn the_leader_has_more_room_than_the_other_drawn() {
        let mut archive = Archive::new(9);
        let all = [(9, 1), (6, 2), (5, 3), (2, 8)].map(|(cost, size)| trade_off((cost, size, 0)));
        archive.learn(&all);
        let mut led = [0.0f64; 4];
        for slot in 0..16_000 {
            let mut rng = Streams::new(1).rng(0, Phase::Ask, slot);
            let leader = archive.leader(&mut rng);
            led[archive.members.iter().position(|member| member.subset == *leader).unwrap()] += 1.0;
        }
        // Members stand as 8, 3, 2, 1. Ends tie and go to the first drawn: 6/16 each. Size 3 has
        // 4/7 + 6/7, size 2 has 4/7 + 2/7: 3/16 and 1/16. Four standard deviations are below 260.
        for (count, sixteenths) in led.into_iter().zip([6.0, 3.0, 1.0, 6.0]) {
            assert!((count - 1000.0 * sixteenths).abs() < 260.0, "{led:?}");
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_nothing_dominates(batches in batches()) {
            let mut archive = Archive::new(usize::MAX);
            for batch in &batches {
                archive.learn(batch);
            }
            let all: Vec<Point> = batches.iter().flatten().map(|one| one.costs).collect();
            let mut expected: Vec<Point> = all.iter().copied()
                .filter(|&point| !all.iter().any(|&other| dominates(other, point)))
                .collect();
            expected.sort_by(by_costs);
            expected.dedup();
            prop_assert_eq!(costs(&archive), expected);
        }

        #[test]
        fn members_never_dominate_each_other_and_the_limit_holds(
            batches in batches(), limit in 2usize..6,
        ) {
            let mut archive = Archive::new(limit);
            for batch in &batches {
                archive.learn(batch);
                let held = costs(&archive);
                prop_assert!(held.len() <= limit);
                prop_assert!(held.iter().all(|&a| !held.iter().any(|&b| dominates(a, b))));
            }
        }

        #[test]
        fn its_area_never_shrinks_below_the_limit(batches in batches()) {
            let mut archive = Archive::new(100);
            let mut area = 0.0;
            for batch in &batches {
                archive.learn(batch);
                let grown = dominated_area(archive.members());
                prop_assert!(grown >= area);
                area = grown;
            }
        }
    }
}
