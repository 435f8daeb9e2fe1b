//! The swarm that chooses within groups of features: velocities say which members of a group go first.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::bests::Ties;
use crate::operators::binary_swarm::BinarySwarm;
use crate::operators::parameters::ConstrictedParams;
use crate::operators::velocity::Pull;
use crate::problem::groups::Groups;
use crate::search::algorithm::{Evaluation, Space, Turn};
use std::sync::Arc;

/// Particles whose bits are chosen group by group.
///
/// Features of no group are never chosen. Where the space has no groups, all its features are one.
#[derive(Debug)]
pub struct GroupedSwarm {
    swarm: BinarySwarm,
    groups: Arc<Groups>,
    pull: Pull,
}

impl GroupedSwarm {
    /// A swarm before its first turn.
    pub fn new(params: &ConstrictedParams, space: &Space) -> Self {
        let mut swarm = BinarySwarm::new(params.population, params.velocity_limit, space);
        swarm.bests.ties = Ties::Shrink;
        Self { swarm, groups: space.groups_or_one(), pull: params.pull() }
    }

    /// Gives every particle a velocity, then its first subset; `choose` is as for [`advance`](Self::advance).
    pub fn start(
        &mut self,
        turn: &Turn<'_>,
        choose: impl Fn(&[f64], &mut Rng) -> Subset,
    ) -> Vec<Subset> {
        for particle in 0..self.swarm.population() {
            let mut rng = turn.rng(particle);
            self.swarm.push_off(particle, &mut rng);
            self.choose(particle, &choose, &mut rng);
        }
        self.swarm.positions.clone()
    }

    /// Moves every particle: r1, r2 for each feature, then what `choose` draws for each group. It is given the velocities
    /// of the members and says which of them are in, each by its place in the group.
    pub fn advance(
        &mut self,
        turn: &Turn<'_>,
        choose: impl Fn(&[f64], &mut Rng) -> Subset,
    ) -> Vec<Subset> {
        for particle in 0..self.swarm.population() {
            let mut rng = turn.rng(particle);
            for d in 0..self.swarm.velocities[particle].len() {
                self.swarm.accelerate(particle, d, self.pull, &mut rng);
            }
            self.choose(particle, &choose, &mut rng);
        }
        self.swarm.positions.clone()
    }

    fn choose(
        &mut self,
        particle: usize,
        choose: &impl Fn(&[f64], &mut Rng) -> Subset,
        rng: &mut Rng,
    ) {
        let velocities = &self.swarm.velocities[particle];
        let mut chosen = Subset::empty(velocities.len());
        for members in self.groups.iter() {
            let of_members: Vec<f64> = members.iter().map(|&feature| velocities[feature]).collect();
            for place in choose(&of_members, rng).iter() {
                chosen.insert(members[place]);
            }
        }
        self.swarm.place(particle, chosen, rng);
    }

    /// Learns what the positions cost.
    pub fn learn(&mut self, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

/// One member of a group of `size`.
pub fn only(place: usize, size: usize) -> Subset {
    Subset::from_indices(size, [place])
}

/// Any one member of a group, all equally likely.
pub fn anyone(velocities: &[f64], rng: &mut Rng) -> Subset {
    only(rng.below(velocities.len()), velocities.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::testing::{drive_seeded, rugged};
    use proptest::prelude::*;
    use serde_json::{Map, json};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Features by their group, the last of which stands for none.
        #[test]
        fn swarms_of_representatives_have_one_of_each_group(
            of in proptest::collection::vec(0usize..6, 1..25),
            limit in 1usize..25,
            seed: u64,
        ) {
            let n = of.len();
            let mut members = vec![Vec::new(); 5];
            for (feature, &group) in of.iter().enumerate().filter(|(_, group)| **group < 5) {
                members[group].push(feature);
            }
            let groups = Arc::new(Groups::new(members, n).unwrap());
            prop_assume!(!groups.is_empty());
            let space = Space::new(n, limit).with_groups(Arc::clone(&groups));
            let few = Map::from_iter([("population".to_owned(), json!(4))]);
            for id in ["psomp", "psomp-t", "psorws", "gpso", "igpso"] {
                let mut swarm = find(id).unwrap().start(&few, &space).unwrap().0;
                let history = drive_seeded(seed, &mut *swarm, 8, rugged(seed));
                for subset in history.iter().flatten().map(|tried| &tried.subset) {
                    let counts: Vec<usize> = groups
                        .iter()
                        .map(|group| group.iter().filter(|&&f| subset.contains(f)).count())
                        .collect();
                    let size = subset.count();
                    prop_assert!(size <= limit);
                    prop_assert_eq!(counts.iter().sum::<usize>(), size, "a feature of no group is in");
                    if id.starts_with("pso") {
                        prop_assert_eq!(size, groups.len().min(space.limit()), "{}", id);
                        prop_assert!(counts.iter().all(|&count| count <= 1), "{}", id);
                    }
                }
            }
        }
    }

    #[test]
    fn without_groups_all_features_are_one() {
        let mut swarm = find("psorws").unwrap().start(&Map::new(), &Space::new(9, 9)).unwrap().0;
        let history = drive_seeded(1, &mut *swarm, 3, rugged(1));
        assert!(history.iter().flatten().all(|tried| tried.subset.count() == 1));
    }
}
