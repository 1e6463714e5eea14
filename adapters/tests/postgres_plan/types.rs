use super::{Database, codes, shown, stated, table};

#[test]
fn every_type_has_an_exact_form() {
    let database = Database::with(
        "create type mood as enum ('sad', 'ok'); create domain cents as numeric(10,2) check (value >= 0); \
         create domain price as cents; create type pair as (a int, b text); \
         create table t (a boolean not null, b smallint, c int, d bigint, e real, f double precision, g numeric(38,10), \
         h numeric(5,-2), i numeric(3,5), j money, k date, l time(3), m timestamp, n timestamptz(0), o uuid, p bytea, q text, \
         r varchar(10), s char(5), t name, u json, v jsonb, w xml, x inet, y cidr, z macaddr, aa bit(3), ab varbit, ac mood, \
         ad price not null, ae int[], af oid, ag \"char\", ah text[][], ai cents[], \"aj \"\"x\" int generated always as (c + 1) stored, \
         ak int); alter table t drop column ak",
    );
    let facts = database.describe(&table("t")).unwrap();
    assert_eq!(
        shown(&facts),
        [
            "a bool not null (boolean)",
            "b int16 (smallint)",
            "c int32 (integer)",
            "d int64 (bigint)",
            "e float32 (real)",
            "f float64 (double precision)",
            "g decimal(38,10) (numeric(38,10))",
            "h decimal(7,0) (numeric(5,-2))",
            "i decimal(5,5) (numeric(3,5))",
            "j decimal(19,2) (money)",
            "k date (date)",
            "l time(3) (time(3) without time zone)",
            "m timestamp(6) (timestamp without time zone)",
            "n timestamp(0, utc) (timestamp(0) with time zone)",
            "o uuid (uuid)",
            "p binary (bytea)",
            "q text (text)",
            "r text (character varying(10))",
            "s text (character(5))",
            "t text (name)",
            "u text (json)",
            "v text (jsonb)",
            "w text (xml)",
            "x text (inet)",
            "y text (cidr)",
            "z text (macaddr)",
            "aa text (bit(3))",
            "ab text (bit varying)",
            "ac text (mood)",
            "ad decimal(10,2) not null (price (numeric(10,2)))",
            "ae text (integer[])",
            "af uint32 (oid)",
            "ag text (\"char\")",
            "ah text (text[])",
            "ai text (cents[])",
            "aj \"x int32 (integer)",
        ]
    );
    assert!(facts.warnings.iter().any(|text| text.contains("arrays (\"ae\" and 2 more)")), "{:?}", facts.warnings);
}

#[test]
fn what_has_none_says_so() {
    let database = Database::with(
        "create type pair as (a int, b text); create table t (a numeric, b numeric(77,0), c interval, d timetz, e point, \
         f int4range, g pair, h tsvector)",
    );
    assert_eq!(
        codes(database.describe(&table("t"))),
        ["unconstrained_numeric_requires_type"].into_iter().chain(["unsupported_type"; 7]).collect::<Vec<_>>()
    );
    let types = [
        ("a", "decimal(38,10)"),
        ("b", "text"),
        ("c", "text"),
        ("d", "text"),
        ("e", "text"),
        ("f", "json"),
        ("g", "json"),
        ("h", "text"),
    ];
    let facts = database.describe(&stated(table("t"), &types)).unwrap();
    let found: Vec<String> = facts.schema.columns.iter().map(|c| c.ty.to_string()).collect();
    assert_eq!(found, ["decimal(38,10)", "text", "text", "text", "text", "text", "text", "text"]);
    assert_eq!(codes(database.describe(&stated(table("t"), &[("a", "float64")])))[0], "unsupported_type");
    assert!(
        codes(database.describe(&stated(table("t"), &[("z", "text")]))).contains(&"source_column_not_found".into())
    );
}

#[test]
fn money_has_the_digits_of_its_locale() {
    let database = Database::with("create table t (m money)");
    let facts = database.describe(&table("t")).unwrap();
    assert_eq!(facts.schema.columns[0].ty.to_string(), "decimal(19,2)");
}
