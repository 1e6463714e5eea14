# Short names for what is done daily. `just` alone lists them.

default:
    @just --list

# The fast loop: every test but the kill matrix.
test *ARGS:
    cargo nextest run --workspace --profile fast {{ARGS}}

# Formatting, lints and dependencies.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo deny --locked check bans licenses sources

# Everything that must pass before a change lands.
ci:
    bash tests/run-all.sh

# One benchmark, as JSON: `just bench sqlite-parquet --rows 5000000`.
bench *ARGS:
    cargo run --release -p dpone-tests --bin bench -- {{ARGS}}

# Moves the example table; everything it writes goes to .dpone/.
quickstart:
    cargo run --release -- run docs/examples/quickstart.yaml
