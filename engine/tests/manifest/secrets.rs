use super::{BASE, bad, base_with, shown};

/// Wherever a credential is put, it is refused by its code, and nothing that is shown repeats it.
#[test]
fn no_credential_is_accepted_or_repeated() {
    let inline = "manifest_secret_inline";
    for (from, to, code) in [
        ("path: shop.db", "path: shop.db\n  password: hunter2", inline),
        ("path: shop.db", "connection: {host: h, password: hunter2}", inline),
        ("path: shop.db", "connection: {host: h, pasword: 'hunter2'}", inline),
        ("path: shop.db", "connection: {host: h, port: 1, api_key: hunter2, prot: 5}", inline),
        ("path: shop.db", "connection: {host: h, password=hunter2}", inline),
        ("path: shop.db", "connection: {host: 'u:hunter2@h'}", inline),
        ("path: shop.db", "connection: {endpoint_url: 'https://u:hunter2@h/x'}", inline),
        ("path: shop.db", "path: 'shop.db?hexkey=hunter2'", inline),
        ("path: shop.db", "connection_id: 'postgres://u:hunter2@h/db'", inline),
        ("path: shop.db", "connection: {username: 'Driver=x;PWD=hunter2'}", inline),
        ("path: shop.db", "connection: {token: [hunter2, {a: hunter2}]}", inline),
        ("path: shop.db", "connection: {secret: &s hunter2, host: *s}", inline),
        ("path: shop.db", "path: shop.db\n  tokn: hunter2 # hunter2", "manifest_unknown_key"),
        ("path: shop.db", "path: shop.db\n  nope: [hunter2, {x: hunter2}]", "manifest_unknown_key"),
        ("dwh.db", "dwh.db\n  dsn: 'x;hunter2'", inline),
        (
            "mode: required",
            "mode: required\n        # password hunter2\n        modee: hunter2",
            "manifest_unknown_key",
        ),
        ("num_partitions: 8", "num_partitions: 0 # hunter2", "manifest_invalid_value"),
        ("num_partitions: 8", "bounds: {lower: hunter2}", "manifest_invalid_value"),
        ("num_partitions: 8", "ranges: [{lower: hunter2, upper: hunter2, null: true}]", "range_invalid"),
        ("num_partitions: 8", "bounds: {lower: hunter2, upper: 'hunter2', uper: hunter2}", "manifest_unknown_key"),
        (
            "table: {name: orders}\n  options",
            "query: select 'hunter2'\n  table: {name: t}\n  options",
            "option_conflict",
        ),
        ("path: shop.db", "connection: {host: h, password: \"hunter2", "manifest_syntax"),
        ("path: shop.db", "connection: {host: h, password: hunter2, ]", "manifest_syntax"),
        ("path: shop.db", "path: shop.db\n  password: hunter2: x", "manifest_syntax"),
        ("path: shop.db", "path: shop.db\n  hunter2\n", "manifest_syntax"),
        ("path: shop.db", "path: shop.db\n  x: *hunter2\n", "manifest_syntax"),
        ("path: shop.db", "path: shop.db\n  x: !hunter2 y\n", "manifest_syntax"),
    ] {
        let refusals = bad(&base_with(from, to));
        let out = shown(&refusals);
        assert!(refusals.iter().any(|r| r.code.as_str() == code), "{to}\n{out}");
        assert!(!out.contains("hunter2") && !format!("{refusals:?}").contains("hunter2"), "{to}\n{out}");
    }
    assert!(!BASE.contains("hunter2"));
}
