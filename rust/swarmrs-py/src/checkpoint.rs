//! Checkpoints: the replay of a run on disk, replaced atomically.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use swarmrs_core::base::clock::Clock;
use swarmrs_core::search::observer::{IterationRecord, Observer};
use swarmrs_core::search::replay::Replay;
use swarmrs_core::{Error, Result};

/// The interval between writes is at least this many times the duration of a write.
const INTERVAL_FACTOR: f64 = 20.0;
/// The minimum interval between writes, in seconds.
const MIN_INTERVAL: f64 = 1.0;

/// Records the replay of a run and writes it periodically.
pub struct Checkpoint {
    path: PathBuf,
    replay: Replay,
    last_write: Clock,
    interval: f64,
}

impl Checkpoint {
    /// Opens the checkpoint at `path`, or creates one.
    pub fn open(path: &Path, fingerprint: &str, settings: &str) -> Result<Self> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let what = "it is no regular file".to_owned();
            return Err(Error::CheckpointFile { path: path.display().to_string(), what });
        }
        let replay = match fs::read(path) {
            Ok(bytes) => {
                Replay::from_bytes(&bytes, &path.display().to_string(), fingerprint, settings)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Replay::new(fingerprint, settings)
            }
            Err(error) => return Err(bad(path, &error)),
        };
        let checkpoint =
            Self { path: path.to_owned(), replay, last_write: Clock::start(), interval: 0.0 };
        // An error of writing is reported at the start, not after hours of work.
        checkpoint.write().map_err(|error| bad(path, &error))?;
        Ok(checkpoint)
    }

    /// The evaluations of an earlier part of the run.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Writes the final state. A failure is returned as a warning, so that the result of the run is not lost.
    pub fn close(self) -> Option<String> {
        let error = self.write().err()?;
        let path = self.path.display();
        Some(format!("checkpoint {path} could not be written and is not up to date: {error}"))
    }

    /// Writes a temporary file in the same folder and renames it; removes it on failure.
    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let (temporary, mut file) = create_temporary(folder)?;
        let written =
            file.write_all(&self.replay.to_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
                // Windows does not rename open files.
                drop(file);
                fs::rename(&temporary, &self.path)
            });
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.and_then(|()| sync_folder(folder))
    }
}

/// Creates a file with an unpredictable name. `create_new` neither opens an existing file nor follows a link.
fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        // The keys of `RandomState` are random.
        let number = RandomState::new().build_hasher().finish();
        let path = folder.join(format!(".swarmrs-{number:016x}.part"));
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
}

/// Flushes the folder, so that a rename is durable.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

/// Windows does not open folders as files; its file systems journal renames.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Observer for Checkpoint {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        let n_recorded = self.replay.iterations().len();
        let _ = self.replay.iteration_done(record);
        if self.replay.iterations().len() > n_recorded && self.last_write.seconds() >= self.interval
        {
            let clock = Clock::start();
            // Errors are ignored, because a full disk may have space again later; the final write reports them.
            let _ = self.write();
            self.interval = (INTERVAL_FACTOR * clock.seconds()).max(MIN_INTERVAL);
            self.last_write = Clock::start();
        }
        ControlFlow::Continue(())
    }
}

fn bad(path: &Path, error: &io::Error) -> Error {
    Error::CheckpointFile { path: path.display().to_string(), what: error.to_string() }
}
