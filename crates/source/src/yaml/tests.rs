use super::*;
use crate::Style;

fn read(text: &str) -> Node {
    parse(&SourceFile::new("t.yaml", text)).unwrap()
}

fn fail(text: &str) -> String {
    parse_all(&SourceFile::new("t.yaml", text))
        .unwrap_err()
        .to_string()
}

fn json(text: &str) -> serde_json::Value {
    read(text).to_json()
}

#[test]
fn an_empty_file_is_null() {
    for text in ["", "\n\n", "# only a comment\n", "---\n"] {
        assert!(read(text).is_null(), "{text:?}");
    }
}

#[test]
fn a_document_becomes_a_tree_with_places() {
    let tree = read("server:\n  port: 8000 # comment\n  hosts: [a, 'b']\n");
    let port = tree.find(["server", "port"]).unwrap();
    assert_eq!(port.location(), "t.yaml:2:9");
    assert_eq!(port.source_text(), "8000");
    let hosts = tree.find(["server", "hosts"]).unwrap();
    assert_eq!(hosts.source_text(), "[a, 'b']");
    assert_eq!(
        tree.get("server").unwrap().source_text(),
        "port: 8000 # comment\n  hosts: [a, 'b']"
    );
}

#[test]
fn anchors_tags_and_block_headers_are_not_part_of_a_span() {
    let tree = read("a: &x !!str 12\nb: &y # why\n  c: 1\nd: &z |\n  text\n  more\ne: &f [1]\n");
    assert_eq!(tree.get("a").unwrap().source_text(), "12");
    assert_eq!(tree.get("a").unwrap().as_str(), Some("12"));
    assert_eq!(tree.get("b").unwrap().source_text(), "c: 1");
    assert_eq!(tree.get("d").unwrap().source_text(), "text\n  more");
    assert_eq!(tree.get("e").unwrap().source_text(), "[1]");
}

#[test]
fn aliases_and_merge_keys_bring_in_what_the_anchor_holds() {
    let text = "\
base: &base {a: 1, b: 1}
more: &more {b: 2, c: 2}
one:
  <<: *base
  b: own
two:
  <<: [*base, *more]
alias: *base
";
    let value = json(text);
    assert_eq!(value["one"], serde_json::json!({"a": 1, "b": "own"}));
    assert_eq!(value["two"], serde_json::json!({"a": 1, "b": 1, "c": 2}));
    assert_eq!(value["alias"], value["base"]);
    let tree = read(text);
    assert_eq!(tree.find(["two", "c"]).unwrap().location(), "t.yaml:2:23");
}

#[test]
fn a_quoted_merge_key_is_an_ordinary_key() {
    assert_eq!(json("'<<': 1\n"), serde_json::json!({"<<": 1}));
    assert!(fail("<<: 1\n").contains("`<<` merges mappings, not an integer"));
}

#[test]
fn every_doubled_key_is_named_with_the_line_of_the_first() {
    let text = fail("a: 1\nb: 2\na: 3\nc: {d: 1, d: 2}\n");
    assert!(
        text.contains("t.yaml:3:1: error: the key `a` is given twice"),
        "{text}"
    );
    assert!(text.contains("first given at line 1"), "{text}");
    assert!(
        text.contains("t.yaml:4:11: error: the key `d` is given twice"),
        "{text}"
    );
}

#[test]
fn a_tab_in_the_indentation_is_pointed_at() {
    let text = fail("a:\n\tb: 1\n");
    assert!(
        text.starts_with("t.yaml:2:1: error: a tab cannot indent YAML"),
        "{text}"
    );
    assert!(text.ends_with("help: indent with spaces"), "{text}");
}

#[test]
fn broken_structure_names_the_line_and_a_probable_cause() {
    for (text, location, help) in [
        ("a: 1\n b: 2\n", "t.yaml:2:3", "indentation"),
        ("a: [1, 2\nb: 3\n", "t.yaml:2:2", "bracket"),
        ("a: *nope\n", "t.yaml:1:4", "before it is used"),
        ("a: \"un\nb: c\n", "t.yaml:1:4", "quote"),
    ] {
        let message = fail(text);
        assert!(message.starts_with(location), "{message}");
        assert!(message.contains(help), "{message}");
    }
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let uses = vec![format!("*a{}", level - 1); 9].join(", ");
        text += &format!("a{level}: &a{level} [{uses}]\n");
    }
    assert!(fail(&text).contains("more than is sensible"));
}

#[test]
fn endless_nesting_is_refused() {
    assert!(fail(&"[".repeat(100_000)).contains("recursion limit"));
    assert!(fail(&"[".repeat(150)).contains("nested deeper than 100 levels"));
    let block: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(fail(&block).contains("nested deeper than 100 levels"));
}

#[test]
fn a_text_beyond_the_size_limit_is_refused() {
    let limits = Limits {
        bytes: 3,
        ..Limits::default()
    };
    let found = parse_all_within(&SourceFile::new("t", "a: 1"), limits).unwrap_err();
    assert!(found.to_string().contains("at most 3 are read"));
}

#[test]
fn a_second_document_is_an_error_unless_asked_for() {
    let file = SourceFile::new("t.yaml", "a: 1\n---\nb: 2\n");
    let text = parse(&file).unwrap_err().to_string();
    assert!(
        text.starts_with("t.yaml:3:1: error: a second document"),
        "{text}"
    );
    assert_eq!(parse_all(&file).unwrap().len(), 2);
}

#[test]
fn tags_without_meaning_and_keys_that_are_no_words_are_refused() {
    assert!(fail("a: !secret x\n").contains("the tag `!secret` has no meaning here"));
    assert!(fail("a: !!int x\n").contains("`x` is no `!!int`"));
    assert!(fail("a: !!set {x}\n").contains("the tag `!!set` has no meaning here"));
    assert!(fail("? [a]\n: b\n").contains("a list cannot be a key"));
}

#[test]
fn numbers_and_booleans_may_be_keys() {
    assert_eq!(
        json("1: a\ntrue: b\n1.10: c\n"),
        serde_json::json!({"1": "a", "true": "b", "1.10": "c"})
    );
}

#[test]
fn an_anchor_cannot_contain_itself() {
    assert!(fail("a: &x [*x]\n").contains("cannot contain itself"));
}

/// Every occurrence of a marked word in the content must be found at the same word of the file.
fn assert_words_map(text: &str) {
    let file = SourceFile::new("t.yaml", text);
    let tree = parse(&file).unwrap();
    let node = tree.get("e").unwrap();
    let content = node.as_str().unwrap();
    for (at, word) in content.match_indices(|c: char| c.is_ascii_alphabetic()) {
        let found = node.position_in(at);
        assert!(
            file.text()[found..].starts_with(word),
            "{word:?} at {at} of {content:?} became {:?}",
            &file.text()[found..]
        );
    }
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_ascii_alphabetic()).collect() };
    let spanned: Vec<usize> = content
        .match_indices(|c: char| c.is_ascii_alphabetic())
        .map(|(at, _)| node.position_in(at))
        .collect();
    assert!(spanned.is_sorted(), "{text:?} {spanned:?}");
    assert!(!letters(content).is_empty());
}

#[test]
fn an_offset_in_a_scalar_leads_back_to_its_place_in_every_style() {
    for text in [
        "e: abc def\n",
        "e: abc\n  def\n\n  ghi\n",
        "x: é\ne: 'ab''c  d\n\n   ef'\n",
        "e: \"ab\\ncd\\u00e9f \\\n  gh\n   ij\\tk\"\n",
        "e: |\n  abc\n    def\n\n  ghi\n",
        "e: |\n  | abc\n  > def\n",
        "e: |\n\n\n  abc\n  def\n",
        "e: |2\n    abc\n  def\n",
        "e: &x |-\n  abc\n  def\n",
        "e: &x |4\n      abc\n    def\n",
        "e: >\n  abc\n  def\n\n    ghi\n  jkl\n",
        "e: >-\n\n  abc\n  def\n",
        "e: |\r\n  abc\r\n  def\r\n",
        "e: >\r\n  abc\r\n  def\r\n",
        "e:\n  abc\n  def\n",
        "e: |\n  ä: bü\n  c\n",
    ] {
        assert_words_map(text);
    }
}

#[test]
fn a_range_of_an_expression_in_a_block_becomes_a_span_of_the_file() {
    let file = SourceFile::new("t.yaml", "e: |\n  a == 1 &&\n  nosuch.x > 2\n");
    let node = parse(&file).unwrap();
    let node = node.get("e").unwrap();
    let at = node.as_str().unwrap().find("nosuch").unwrap();
    let span = node.span_in(at..at + 6);
    assert_eq!(file.slice(span), "nosuch");
    assert_eq!(file.position(span.start).to_string(), "3:3");
    assert_eq!(node.position_in(9999), node.span.end);
    assert!(matches!(node.value, Value::String(_, Style::Literal)));
}
