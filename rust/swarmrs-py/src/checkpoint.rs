//! The record of a run on disk: written whole, beside the old one, then put in its place.

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
}

impl Checkpoint {
    /// Continues the record at `path`, or begins one.
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
        let checkpoint = Self { path: path.to_owned(), replay, since: Clock::start(), wait: 0.0 };
        // A path that cannot be written is found out now, not after hours of work.
        checkpoint.write().map_err(|error| bad(path, &error))?;
        Ok(checkpoint)
    }

    /// What an earlier part of the run measured.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Writes the last state. A write that fails costs no result: a warning says that the file is not up to date.
    pub fn close(self) -> Option<String> {
        let error = self.write().err()?;
        let path = self.path.display();
        Some(format!("checkpoint {path} could not be written and is not up to date: {error}"))
    }

    /// Writes a new file beside the old one and puts it in its place; leaves no file behind when it fails.
    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let (beside, mut file) = create_beside(folder)?;
        let written =
            file.write_all(&self.replay.to_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
                // Windows renames no file that is open.
                drop(file);
                fs::rename(&beside, &self.path)
            });
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written.and_then(|()| sync_folder(folder))
    }
}

/// Creates a file of an unpredictable name. `create_new` neither opens a file that is there nor follows a link.
fn create_beside(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        // The keys of a hasher are random numbers of the system.
        let number = RandomState::new().build_hasher().finish();
        let path = folder.join(format!(".swarmrs-{number:016x}.part"));
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
}

/// Has the name of a renamed file reach the disk, too.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

/// Windows opens no folder as a file; its file systems keep a record of renames themselves.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Observer for Checkpoint {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        let known = self.replay.iterations().len();
        let _ = self.replay.iteration_done(record);
        if self.replay.iterations().len() > known && self.since.seconds() >= self.wait {
            let clock = Clock::start();
            // A full disk may have room again later; the last write tells.
            let _ = self.write();
            self.wait = (SHARE * clock.seconds()).max(INTERVAL);
            self.since = Clock::start();
        }
        ControlFlow::Continue(())
    }
}

fn bad(path: &Path, error: &io::Error) -> Error {
    Error::CheckpointFile { path: path.display().to_string(), what: error.to_string() }
}
