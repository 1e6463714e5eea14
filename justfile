# Short names for what is done daily. `just` alone lists them.

default:
    @just --list

# The fast loop: every test but the kill matrix and the largest tables.
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

# The long proof, for a machine of its own overnight: the larger model, many seeds, every pair of faults, every planted
# defect, every kill point. Fails if a fault, a transition, a fact, an ending or a row of `reconcile` is not met, or a defect is not found.
nightly SEEDS="500000":
    cargo run --release --locked -p dpone-spec -- check A B C D
    cargo run --release --locked -p dpone-sims -- nightly --seeds {{SEEDS}}
    cargo run --release --locked -p dpone-spec -- mutate
    cargo run --release --locked -p dpone-sims -- mutate
    DPONE_KILL_ALL=1 cargo nextest run --workspace --locked --profile ci

# One benchmark, as JSON: `just bench sqlite-parquet --rows 5000000`.
bench *ARGS:
    cargo run --release -p dpone-tests --bin bench -- {{ARGS}}

# Moves the example table; everything it writes goes to .dpone/.
quickstart:
    cargo run --release -- run docs/examples/quickstart.yaml
