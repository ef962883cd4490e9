//! What leaves: its size and its line ends.

use super::*;

fn answer(text: &str) -> Response {
    Response {
        id: Some(Id::Integer("7".into())),
        body: Ok(json!({ "text": text })),
    }
}

#[test]
fn no_line_end_of_unicode_leaves() {
    let encoded = answer("a\u{2028}b\u{2029}c\u{85}d\u{b}\u{c}\u{1c}\r\ne").encode();
    assert_eq!(
        encoded,
        r#"{"jsonrpc":"2.0","id":7,"result":{"text":"a\u2028b\u2029c\u0085d\u000b\f\u001c\r\ne"}}"#
    );
    let back: Value = serde_json::from_str(&encoded).expect("JSON");
    assert_eq!(
        back["result"]["text"],
        "a\u{2028}b\u{2029}c\u{85}d\u{b}\u{c}\u{1c}\r\ne"
    );
    let note = encode_notification("n\u{2028}", "{}");
    assert_eq!(note, r#"{"jsonrpc":"2.0","method":"n\u2028","params":{}}"#);
}

#[test]
fn an_answer_over_the_limit_becomes_an_error() {
    let empty = answer("").encode().len();
    assert_eq!(
        answer(&"x".repeat(OUT_LIMIT - empty)).encode().len(),
        OUT_LIMIT
    );
    let over: Value =
        serde_json::from_str(&answer(&"x".repeat(OUT_LIMIT - empty + 1)).encode()).expect("JSON");
    assert_eq!(over["error"]["code"], INTERNAL_ERROR);
    assert_eq!(over["id"], 7);
    // Escapes count: six bytes for three.
    let escaped = answer(&"\u{2028}".repeat(OUT_LIMIT / 4)).encode();
    assert!(escaped.len() < 200, "{} bytes", escaped.len());
    // An id that is itself too long cannot go back.
    let long = Response {
        id: Some(Id::Text("i".repeat(OUT_LIMIT))),
        body: Ok(json!({})),
    };
    let long: Value = serde_json::from_str(&long.encode()).expect("JSON");
    assert_eq!(
        (&long["id"], &long["error"]["code"]),
        (&Value::Null, &json!(INTERNAL_ERROR))
    );
}

#[test]
fn a_batch_keeps_what_fits() {
    let mut responses = vec![answer(""); BATCH_LIMIT];
    responses[5] = answer(&"x".repeat(OUT_LIMIT));
    responses[9] = answer(&"y".repeat(1000));
    let encoded = encode_batch(&responses);
    assert!(encoded.len() <= OUT_LIMIT);
    let array: Value = serde_json::from_str(&encoded).expect("JSON");
    assert_eq!(array.as_array().map(Vec::len), Some(BATCH_LIMIT));
    assert_eq!(array[5]["error"]["code"], INTERNAL_ERROR);
    assert_eq!(
        array[9]["result"]["text"].as_str().map(str::len),
        Some(1000)
    );
    assert!(encode_batch(&vec![answer(&"z".repeat(OUT_LIMIT / 2)); 3]).len() <= OUT_LIMIT);
}
