//! Append-only files of one JSON value per line. A torn last line is dropped, never an error.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Error, present};

/// Appends records; each is one write, so that readers and crashes see whole lines or a torn last one.
#[derive(Debug)]
pub struct Records {
    file: File,
    path: PathBuf,
    /// The file may end within a line: begin with a newline, so that the torn line spoils only itself.
    torn: bool,
}

impl Records {
    pub fn open(path: &Path) -> Result<Records, Error> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .map_err(Error::at("open", path))?;
        let torn = !ends_whole(path).map_err(Error::at("read", path))?;
        Ok(Records {
            file,
            path: path.to_path_buf(),
            torn,
        })
    }

    pub fn append<T: Serialize>(&mut self, record: &T) -> Result<(), Error> {
        let mut line = Vec::new();
        if self.torn {
            line.push(b'\n');
        }
        let fail = Error::at("write", &self.path);
        if let Err(error) = serde_json::to_writer(&mut line, record) {
            return Err(fail(error.into()));
        }
        line.push(b'\n');
        // After a failed write (a full disk) part of the line may stand in the file.
        self.torn = true;
        self.file.write_all(&line).map_err(fail)?;
        self.torn = false;
        Ok(())
    }
}

fn ends_whole(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == [b'\n'])
}

/// Every record that reads as a `T`; lines that do not (torn, or of another version) are passed over. A missing
/// file has none.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let bytes = present(std::fs::read(path))
        .map_err(Error::at("read", path))?
        .unwrap_or_default();
    Ok(bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    #[test]
    fn a_torn_line_spoils_only_itself() {
        let scratch = Scratch::new();
        let path = scratch.path().join("r.jsonl");
        Records::open(&path).unwrap().append(&1).unwrap();
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"half\":")
            .unwrap();
        let mut records = Records::open(&path).unwrap();
        records.append(&2).unwrap();
        records.append(&3).unwrap();
        assert_eq!(read::<i32>(&path).unwrap(), [1, 2, 3]);
        assert_eq!(
            read::<i32>(&scratch.path().join("none")).unwrap(),
            [] as [i32; 0]
        );
    }
}
