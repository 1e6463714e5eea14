//! Whether a type of the server leaves every value of a logical type as it is.

use dpone_engine::schema::LogicalType;

use super::catalog::Existing;

/// Whether that column can take every value of the type, and give it back unchanged.
pub(super) fn holds(ty: &LogicalType, there: &Existing) -> bool {
    let is = |names: &[&str]| names.contains(&there.ty.as_str());
    let digits = if there.modifier < 0 { 6 } else { there.modifier };
    let integer = |digits: i32, names: &[&str]| is(names) || numeric(there, digits, 0);
    match *ty {
        LogicalType::Bool => is(&["bool"]),
        LogicalType::Int { bits: 8 } | LogicalType::UInt { bits: 8 } => integer(3, &["int2", "int4", "int8"]),
        LogicalType::Int { bits: 16 } => integer(5, &["int2", "int4", "int8"]),
        LogicalType::UInt { bits: 16 } => integer(5, &["int4", "int8"]),
        LogicalType::Int { bits: 32 } => integer(10, &["int4", "int8"]),
        LogicalType::UInt { bits: 32 } => integer(10, &["int8"]),
        LogicalType::Int { .. } => integer(19, &["int8"]),
        LogicalType::UInt { .. } => integer(20, &[]),
        LogicalType::Float { bits: 32 } => is(&["float4", "float8"]),
        LogicalType::Float { .. } => is(&["float8"]),
        LogicalType::Decimal { precision, scale } => numeric(there, i32::from(precision - scale), i32::from(scale)),
        LogicalType::Date => is(&["date"]),
        LogicalType::Time { digits: needed } => is(&["time"]) && digits >= i32::from(needed),
        LogicalType::Timestamp { digits: needed, utc } => {
            is(&[if utc { "timestamptz" } else { "timestamp" }]) && digits >= i32::from(needed)
        }
        // char(n) pads, and varchar(n) has an end.
        LogicalType::Text => is(&["text"]) || (is(&["varchar"]) && there.modifier < 0),
        LogicalType::Binary => is(&["bytea"]),
        LogicalType::Uuid => is(&["uuid"]),
    }
}

/// Whether it is a numeric of at least so many digits before and after the point.
fn numeric(there: &Existing, before: i32, after: i32) -> bool {
    if there.ty != "numeric" {
        return false;
    }
    if there.modifier < 4 {
        return true;
    }
    let packed = there.modifier - 4;
    let precision = packed >> 16 & 0xffff;
    // Eleven bits with a sign.
    let scale = ((packed & 0x7ff) ^ 0x400) - 0x400;
    scale >= after && precision - scale >= before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_holds_what_it_keeps_unchanged() {
        let numeric = |precision: i32, scale: i32| ((precision << 16) | (scale & 0x7ff)) + 4;
        let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
        let int = |bits| LogicalType::Int { bits };
        let stamp = |digits, utc| LogicalType::Timestamp { digits, utc };
        for (ty, there, modifier, expect) in [
            (int(64), "int8", -1, true),
            (int(64), "int4", -1, false),
            (int(64), "float8", -1, false),
            (int(64), "numeric", numeric(19, 0), true),
            (int(64), "numeric", numeric(20, 2), false),
            (LogicalType::UInt { bits: 64 }, "int8", -1, false),
            (LogicalType::UInt { bits: 64 }, "numeric", -1, true),
            (LogicalType::UInt { bits: 16 }, "int2", -1, false),
            (decimal(12, 2), "numeric", numeric(12, 2), true),
            (decimal(12, 2), "numeric", numeric(12, 3), false),
            (decimal(12, 2), "numeric", numeric(13, 3), true),
            (decimal(12, 2), "numeric", numeric(14, 1), false),
            (decimal(5, 0), "numeric", numeric(3, -3), false),
            (stamp(6, true), "timestamptz", -1, true),
            (stamp(6, true), "timestamptz", 3, false),
            (stamp(3, false), "timestamp", 3, true),
            (stamp(3, false), "timestamptz", -1, false),
            (LogicalType::Text, "text", -1, true),
            (LogicalType::Text, "varchar", -1, true),
            (LogicalType::Text, "varchar", 14, false),
            (LogicalType::Text, "bpchar", 14, false),
            (LogicalType::Text, "", -1, false),
            (LogicalType::Float { bits: 64 }, "float4", -1, false),
        ] {
            let column = Existing { ty: there.to_owned(), modifier, ..Existing::default() };
            assert_eq!(holds(&ty, &column), expect, "{ty} in {there} {modifier}");
        }
    }
}
