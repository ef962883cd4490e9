//! Random bytes from the kernel.

use std::io;

/// Fills `buffer` from getrandom(2), which never returns fewer than 256 bytes once the pool is ready.
pub fn fill(buffer: &mut [u8]) -> io::Result<()> {
    for chunk in buffer.chunks_mut(256) {
        // SAFETY: writes at most the chunk's length into it.
        let count = unsafe { libc::getrandom(chunk.as_mut_ptr().cast(), chunk.len(), 0) };
        if count != chunk.len() as isize {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// `bytes` random bytes in lower-case hexadecimal.
pub fn hex(bytes: usize) -> io::Result<String> {
    let mut buffer = vec![0; bytes];
    fill(&mut buffer)?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
