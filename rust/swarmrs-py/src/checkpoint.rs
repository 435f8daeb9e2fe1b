//! The record of a run on disk: written whole, beside the old one, then put in its place.

use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use swarmrs_core::budget::Clock;
use swarmrs_core::observe::{Observer, TurnRecord};
use swarmrs_core::replay::Replay;
use swarmrs_core::{Error, Result};

/// Writing takes at most one part in this many of the time.
const SHARE: f64 = 20.0;
/// A checkpoint is not written more often than this, in seconds.
const INTERVAL: f64 = 1.0;

/// Keeps a run's record and writes it from time to time.
pub struct Checkpoint {
    path: PathBuf,
    replay: Replay,
    since: Clock,
    wait: f64,
    failed: Option<Error>,
}

impl Checkpoint {
    /// Continues the record at `path`, or begins one.
    pub fn open(path: &Path, fingerprint: &str, settings: &str) -> Result<Self> {
        let replay = match fs::read(path) {
            Ok(bytes) => {
                Replay::from_bytes(&bytes, &path.display().to_string(), fingerprint, settings)?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Replay::new(fingerprint, settings)
            }
            Err(error) => return Err(bad(path, &error)),
        };
        let checkpoint =
            Self { path: path.to_owned(), replay, since: Clock::start(), wait: 0.0, failed: None };
        // A path that cannot be written is found out now, not after hours of work.
        checkpoint.write()?;
        Ok(checkpoint)
    }

    /// What an earlier part of the run measured.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Writes the last state.
    pub fn close(self) -> Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.write(),
        }
    }

    fn write(&self) -> Result<()> {
        let mut beside = self.path.clone().into_os_string();
        beside.push(".part");
        let beside = PathBuf::from(beside);
        let written = File::create(&beside)
            .and_then(|mut file| {
                file.write_all(&self.replay.to_bytes()).and_then(|()| file.sync_all())
            })
            .and_then(|()| fs::rename(&beside, &self.path))
            .and_then(|()| {
                // The name itself must reach the disk too.
                let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
                File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())
            });
        written.map_err(|error| bad(&self.path, &error))
    }
}

impl Observer for Checkpoint {
    fn turn_done(&mut self, record: &TurnRecord<'_>) -> ControlFlow<()> {
        let known = self.replay.turns().len();
        let _ = self.replay.turn_done(record);
        if self.replay.turns().len() > known && self.since.seconds() >= self.wait {
            let clock = Clock::start();
            if let Err(error) = self.write() {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            self.wait = (SHARE * clock.seconds()).max(INTERVAL);
            self.since = Clock::start();
        }
        ControlFlow::Continue(())
    }
}

fn bad(path: &Path, error: &std::io::Error) -> Error {
    Error::BadCheckpoint { path: path.display().to_string(), what: error.to_string() }
}
