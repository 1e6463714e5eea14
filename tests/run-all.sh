#!/usr/bin/env bash
# Installs what the tests need and runs every check. Needs Rust (rust-toolchain.toml names the version), a C
# compiler, the package registry, and root on Debian to install PostgreSQL unless it is there.
#
# Ends with nextest's summary; exits non-zero if anything failed.
set -euo pipefail
cd "$(dirname "$0")/.."

NEXTEST=0.9.151
DENY=0.20.2

ran=()
skipped=()
failed=()

step() { printf '\n==> %s\n' "$*"; }

# check NAME COMMAND...: runs it, remembers how it ended, goes on.
check() {
    local name=$1
    shift
    step "$name"
    if "$@"; then ran+=("$name"); else failed+=("$name"); fi
}

# tool BINARY PACKAGE VERSION: installs a cargo tool that is not there.
tool() {
    command -v "$1" >/dev/null && return
    step "installing $2 $3 (once)"
    # Without CARGO_TARGET_DIR cargo builds a tool in a temporary folder and removes it.
    env -u CARGO_TARGET_DIR cargo install --locked "$2@$3"
}

for needed in cargo rustc cc; do
    command -v "$needed" >/dev/null || {
        echo "error: '$needed' is missing. Install Rust and a C compiler first (README.md)." >&2
        exit 2
    }
done
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
step "$(rustc --version)"
tool cargo-nextest cargo-nextest "$NEXTEST"
tool cargo-deny cargo-deny "$DENY"

# What tests start for themselves. Without root the packages must be there already.
server() {
    local there=1 driver
    compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null && command -v openssl >/dev/null && command -v mariadbd >/dev/null || there=0
    for driver in psqlodbcw.so libtdsodbc.so libmaodbc.so; do
        compgen -G "/usr/lib/*/odbc/$driver" >/dev/null || there=0
    done
    python3 -c 'import ensurepip, venv' 2>/dev/null && ldconfig -p | grep -q libgssapi_krb5 || there=0
    [ "$there" = 1 ] && return
    step "installing servers and ODBC drivers: ${packages[*]} (once)"
    apt-get -o DPkg::Lock::Timeout=300 update -q || true
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q "${packages[@]}"
}
packages=(postgresql openssl mariadb-server unixodbc odbc-postgresql tdsodbc odbc-mariadb libgssapi-krb5-2 python3 python3-venv)
server || {
    echo "error: what tests start for themselves could not be installed. On Debian: apt-get install ${packages[*]}" >&2
    exit 2
}
step "T-SQL test server and Microsoft's driver"
bash tests/fixtures/tds/install.sh

check "format" cargo fmt --all --check
check "dependencies: bans, licences, sources" cargo deny --locked check --hide-inclusion-graph bans licenses sources
if timeout 120 cargo deny --locked fetch db >/dev/null 2>&1; then
    check "dependencies: advisories" cargo deny --locked check --hide-inclusion-graph --disable-fetch advisories
else
    skipped+=("dependencies: advisories (the advisory database cannot be fetched here)")
fi
check "lints" cargo clippy --workspace --all-targets --locked -- -D warnings
check "doc tests" cargo test --workspace --doc --locked
check "model: every state of configurations A to C" cargo run --quiet --release --locked -p dpone-spec -- check
sims() { cargo run --quiet --release --locked -p dpone-sims -- "$@"; }
check "simulator: 20,000 seeds" sims run --seeds 20000
check "simulator: 500 seeds on SQLite, on a disk that fails" sims run --seeds 500 --journal sqlite
check "simulator: every fault and every pair of small runs" sims systematic
check "simulator: everything reachable is met" sims meta

# Tests that need what not every user may do skip themselves; what they skip is said here.
unshare -m true 2>/dev/null || skipped+=("full and read-only disks (this user may not mount)")
unshare -pf --mount-proc true 2>/dev/null || skipped+=("signals as process 1 (this user may not make a process namespace)")
setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || skipped+=("a read-only journal (this user cannot become another)")

step "so far"
for name in "${ran[@]}"; do echo "passed:  $name"; done
for name in "${skipped[@]}"; do echo "skipped: $name"; done
for name in "${failed[@]}"; do echo "FAILED:  $name"; done

step "tests"
tests=0
cargo nextest run --workspace --locked --profile ci || tests=$?
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'error: a check before the tests failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
exit "$tests"
