//! Append-only files of one JSON value per line. A torn last line is dropped, never an error.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
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
    /// Bytes in the file, as far as writes have not failed.
    length: u64,
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
        let (length, whole) = end(path).map_err(Error::at("read", path))?;
        Ok(Records {
            file,
            path: path.to_path_buf(),
            length,
            torn: !whole,
        })
    }

    /// The offset just after the last whole record. All that was appended here stands before it.
    pub fn length(&self) -> u64 {
        self.length
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
        self.length = self.file.stream_position().unwrap_or(self.length);
        self.torn = false;
        Ok(())
    }
}

/// A file's length, and whether it ends with a newline.
fn end(path: &Path) -> io::Result<(u64, bool)> {
    use std::os::unix::fs::FileExt;
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok((length, last == [b'\n']))
}

/// Every record from offset `from` on (the start of a line, or of what follows a torn one) that reads as a `T`;
/// lines that do not (torn, or of another version) are passed over. With the offset that was read up to. A missing
/// file has none.
pub fn read<T: DeserializeOwned>(path: &Path, from: u64) -> Result<(Vec<T>, u64), Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(from))?;
        file.read_to_end(&mut bytes)
    });
    present(read).map_err(Error::at("read", path))?;
    let records = bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok());
    Ok((records.collect(), from + bytes.len() as u64))
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
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(read::<i32>(&path, 0).unwrap(), (vec![1, 2, 3], length));
        assert_eq!(read::<i32>(&path, 2).unwrap(), (vec![2, 3], length));
        assert_eq!(records.length(), length);
        let none = scratch.path().join("none");
        assert_eq!(read::<i32>(&none, 0).unwrap(), (vec![], 0));
    }
}
