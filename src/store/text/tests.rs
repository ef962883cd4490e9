//! session.txt and its index.

use super::*;
use crate::store::tests::Scratch;

fn dir(scratch: &Scratch) -> SessionDir {
    SessionDir {
        path: scratch.path().to_path_buf(),
    }
}

fn collect(log: &TextView, first: u64, most: usize) -> Vec<(u64, String)> {
    let mut lines = Vec::new();
    log.each_line(first, |number, line| {
        lines.push((number, String::from_utf8(line.bytes).unwrap()));
        lines.len() < most
    })
    .unwrap();
    lines
}

#[test]
fn any_line_by_number() {
    let scratch = Scratch::new();
    let mut log = TextLog::create(&dir(&scratch)).unwrap();
    for n in 0..100_000u32 {
        // In odd pieces: lines are not whole writes.
        let text = format!("{n}\n");
        let (a, b) = text.split_at(n as usize % text.len());
        log.append(a.as_bytes()).unwrap();
        log.append(b.as_bytes()).unwrap();
    }
    log.append(b"unfinished").unwrap();
    let log = log.view();
    assert_eq!(log.lines(), 100_000);
    for n in [0u64, 1, 255, 256, 257, 49_999, 99_999] {
        assert_eq!(collect(&log, n, 1), [(n, n.to_string())]);
    }
    assert_eq!(
        collect(&log, 100_000, 9),
        [(100_000, "unfinished".to_string())]
    );
    assert_eq!(collect(&log, 100_001, 9), []);
    let mut seen = 0;
    log.each_block(300, |first, block| {
        assert!(block.starts_with(first.to_string().as_bytes()));
        seen += block.len();
        true
    })
    .unwrap();
    assert_eq!(
        seen as u64,
        log.length
            - collect(&log, 0, 300)
                .iter()
                .map(|(_, line)| line.len() as u64 + 1)
                .sum::<u64>()
    );
}

#[test]
fn a_tail_is_for_other_readers_only() {
    let scratch = Scratch::new();
    let path = dir(&scratch).text();
    let mut log = TextLog::create(&dir(&scratch)).unwrap();
    log.append(b"one\n").unwrap();
    log.set_tail(b"a long live line\n").unwrap();
    log.set_tail(b"live\n").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"one\nlive\n");
    assert_eq!(log.view().lines(), 1);
    log.append(b"2\n").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"one\n2\n");
    assert_eq!(
        collect(&log.view(), 0, 9),
        [(0, "one".to_string()), (1, "2".to_string())]
    );
}

#[test]
fn a_long_line_keeps_its_ends() {
    let scratch = Scratch::new();
    let mut log = TextLog::create(&dir(&scratch)).unwrap();
    let long = [vec![b'a'; 1_500_000], vec![b'b'; 1_500_000]].concat();
    log.append(&long).unwrap();
    log.append(b"\nnext\n").unwrap();
    let mut lines = Vec::new();
    log.view()
        .each_line(0, |_, line| {
            lines.push(line);
            true
        })
        .unwrap();
    assert_eq!(
        (lines[0].bytes.len(), lines[0].omitted),
        (LINE_KEPT, 3_000_000 - LINE_KEPT as u64)
    );
    assert!(lines[0].bytes.starts_with(b"aaa") && lines[0].bytes.ends_with(b"bbb"));
    assert_eq!(lines[1], Line::whole(b"next".to_vec()));
    log.append(&long).unwrap();
    assert_eq!(log.view().unfinished().unwrap(), Some(lines[0].clone()));
}

#[test]
fn an_earlier_file_is_taken_up_or_refused() {
    let scratch = Scratch::new();
    let dir = dir(&scratch);
    let mut log = TextLog::create(&dir).unwrap();
    for n in 0..2_000 {
        log.append(format!("{n}\n").as_bytes()).unwrap();
    }
    log.append(b"begun").unwrap();
    log.set_tail(b" and live\n").unwrap();
    let (lines, length) = (log.view().lines(), log.view().length());
    let index = std::fs::read(dir.index()).unwrap();
    let check = |name: &str| {
        let mut log = TextLog::open(&dir, lines, length).unwrap_or_else(|| panic!("{name}"));
        let view = log.view();
        for n in [0u64, 255, 256, 511, 1_024, 1_999] {
            assert_eq!(collect(&view, n, 1), [(n, n.to_string())], "{name}");
        }
        let begun = view.unfinished().unwrap().unwrap();
        assert_eq!(begun, Line::whole(b"begun".to_vec()), "{name}");
        assert_eq!(std::fs::read(dir.index()).unwrap(), index, "{name}");
        log.append(b"!\nmore\n").unwrap();
        assert_eq!(
            collect(&log.view(), lines + 1, 9),
            [(lines + 1, "more".into())]
        );
        assert_eq!(log.view().unfinished().unwrap(), None);
    };
    check("as it was");
    std::fs::remove_file(dir.index()).unwrap();
    check("missing");
    std::fs::write(dir.index(), &index[..index.len() - 3]).unwrap();
    check("short");
    for at in [0, 16, 24, index.len() - 8] {
        let mut wrong = index.clone();
        wrong[at] ^= 1;
        std::fs::write(dir.index(), wrong).unwrap();
        check("wrong");
    }
    std::fs::write(dir.index(), [&index[..], &index[..]].concat()).unwrap();
    assert!(TextLog::open(&dir, lines, length).is_some(), "longer");
    // Spoiled while it is in use.
    let view = TextLog::open(&dir, lines, length).unwrap().view();
    std::fs::write(dir.index(), b"").unwrap();
    assert_eq!(collect(&view, 1_500, 1), [(1_500, "1500".to_string())]);
    assert!(TextLog::open(&dir, lines + 1, length).is_none());
    assert!(TextLog::open(&dir, lines, length + 1).is_none());
}
