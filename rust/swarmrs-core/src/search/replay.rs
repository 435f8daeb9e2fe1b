//! The replay of a run: its evaluations in order, to resume it.
//!
//! A resumed run starts over and takes its evaluations from the replay up to where it stopped. So no algorithm has to save
//! its state, and a resumed run is identical to an uninterrupted one. This file serializes the replay; it does no input or
//! output.

use crate::base::error::{Error, Result};
use crate::base::subset::Subset;
use crate::evaluate::Measures;
use crate::search::observer::{IterationRecord, Observer};
use std::ops::ControlFlow;

const MAGIC: &[u8; 8] = b"swarmrs\0";
const VERSION: u32 = 2;
const HEADER: usize = MAGIC.len() + 4 + 32;

/// The new subsets of each finished iteration of a run, with their scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The fingerprint of the dataset.
    fingerprint: String,
    /// The settings: the spec of the run as JSON.
    settings: String,
    iterations: Vec<Vec<(Subset, Measures)>>,
}

impl Replay {
    /// An empty replay of a run with these settings on this dataset.
    pub fn new(fingerprint: &str, settings: &str) -> Self {
        Self {
            fingerprint: fingerprint.to_owned(),
            settings: settings.to_owned(),
            iterations: Vec::new(),
        }
    }

    /// The new subsets of each iteration, with their scores.
    pub fn iterations(&self) -> &[Vec<(Subset, Measures)>] {
        &self.iterations
    }

    /// Serializes the replay: magic, version, checksum, payload.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        put_bytes(&mut payload, self.fingerprint.as_bytes());
        put_bytes(&mut payload, self.settings.as_bytes());
        put_len(&mut payload, self.iterations.len());
        for iteration in &self.iterations {
            put_len(&mut payload, iteration.len());
            for (subset, measures) in iteration {
                put_len(&mut payload, subset.len());
                payload.extend(subset.to_bytes());
                payload.extend(measures.to_array().iter().flat_map(|value| value.to_le_bytes()));
            }
        }
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(blake3::hash(&payload).as_bytes());
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// Deserializes the replay of a run with these settings on this dataset. `path` is for error messages only.
    ///
    /// # Errors
    /// [`Error::BadCheckpoint`] with the reason.
    pub fn from_bytes(bytes: &[u8], path: &str, fingerprint: &str, settings: &str) -> Result<Self> {
        let bad =
            |what: &str| Error::BadCheckpoint { path: path.to_owned(), what: what.to_owned() };
        if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
            return Err(bad("not a checkpoint of this program"));
        }
        let (head, payload) = bytes.split_at(HEADER);
        if head[8..12] != VERSION.to_le_bytes() {
            return Err(bad("written in a format of another version"));
        }
        if head[12..] != *blake3::hash(payload).as_bytes() {
            return Err(bad("damaged: its checksum does not match"));
        }
        let replay = Self::parse(&mut Reader(payload)).ok_or_else(|| bad("damaged: cut short"))?;
        if replay.fingerprint != fingerprint {
            return Err(bad("made from other data"));
        }
        if replay.settings != settings {
            return Err(bad(&format!("made with {}", differences(&replay.settings, settings))));
        }
        Ok(replay)
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let fingerprint = reader.text()?;
        let settings = reader.text()?;
        let mut iterations = Vec::new();
        for _ in 0..reader.length()? {
            let mut iteration = Vec::new();
            for _ in 0..reader.length()? {
                let len = reader.length()?;
                let subset =
                    Subset::from_bytes(len, reader.take(len.div_ceil(64).checked_mul(8)?)?)?;
                let mut values = [0.0; Measures::FIELDS];
                for value in &mut values {
                    *value = f64::from_le_bytes(reader.take(8)?.try_into().ok()?);
                }
                iteration.push((subset, Measures::from_array(values)));
            }
            iterations.push(iteration);
        }
        reader.0.is_empty().then_some(Self { fingerprint, settings, iterations })
    }
}

impl Observer for Replay {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        // Replayed iterations are recorded already. An iteration that was cut short is not recorded, to be evaluated again.
        if record.iteration as usize == self.iterations.len() && !record.is_cut_short {
            self.iterations.push(record.evaluated.to_vec());
        }
        ControlFlow::Continue(())
    }
}

/// The names of the settings in which two specs differ.
fn differences(theirs: &str, ours: &str) -> String {
    let parse = |text: &str| {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap_or_default()
    };
    let (theirs, ours) = (parse(theirs), parse(ours));
    let names: Vec<&str> = ours
        .keys()
        .chain(theirs.keys().filter(|name| !ours.contains_key(*name)))
        .filter(|name| theirs.get(*name) != ours.get(*name))
        .map(String::as_str)
        .collect();
    format!("another {}", names.join(", "))
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&(len as u64).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()
    }

    fn text(&mut self) -> Option<String> {
        let len = self.length()?;
        String::from_utf8(self.take(len)?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replay(iterations: usize) -> Replay {
        let mut replay = Replay::new("abc", r#"{"seed":1,"memory":2}"#);
        for iteration in 0..iterations {
            let evaluated = (0..iteration).map(|feature| {
                let measures = Measures { error: 0.1 * feature as f64, ..Measures::WORST };
                (Subset::from_indices(70, [feature, 69]), measures)
            });
            replay.iterations.push(evaluated.collect());
        }
        replay
    }

    fn read(bytes: &[u8], fingerprint: &str, settings: &str) -> Result<Replay> {
        Replay::from_bytes(bytes, "run.ckpt", fingerprint, settings)
    }

    #[test]
    fn deserialization_is_the_inverse_of_serialization() {
        let whole = replay(5);
        assert_eq!(read(&whole.to_bytes(), "abc", &whole.settings).unwrap(), whole);
    }

    #[test]
    fn a_replay_of_another_run_is_refused_with_the_reason() {
        let bytes = replay(3).to_bytes();
        let message = |r: Result<Replay>| r.unwrap_err().to_string();
        let settings = r#"{"seed":1,"memory":2}"#;
        assert_eq!(
            message(read(&bytes, "abd", settings)),
            "checkpoint run.ckpt: made from other data"
        );
        assert_eq!(
            message(read(&bytes, "abc", r#"{"seed":2,"memory":2}"#)),
            "checkpoint run.ckpt: made with another seed"
        );
        assert_eq!(
            message(read(b"hello", "abc", settings)),
            "checkpoint run.ckpt: not a checkpoint of this program"
        );
    }

    proptest! {
        #[test]
        fn any_damage_is_detected(iterations in 1usize..5, byte: prop::sample::Index, bit in 0u8..8, cut: prop::sample::Index) {
            let whole = replay(iterations);
            let mut bytes = whole.to_bytes();
            prop_assert!(read(&bytes[..cut.index(bytes.len())], "abc", &whole.settings).is_err());
            *byte.get_mut(&mut bytes) ^= 1 << bit;
            prop_assert!(read(&bytes, "abc", &whole.settings).is_err());
        }

        #[test]
        fn a_payload_with_wrong_lengths_is_refused(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Replay::parse(&mut Reader(&payload)).is_none_or(|r| r.iterations.len() < 200));
        }
    }
}
