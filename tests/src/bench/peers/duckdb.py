import sys

import duckdb
from duckdb_extensions import import_extension

port, user, database, table, readers, file = sys.argv[1:]
import_extension("postgres_scanner")
db = duckdb.connect(config={"threads": int(readers)})
db.load_extension("postgres_scanner")
db.execute(f"ATTACH 'host=127.0.0.1 port={port} user={user} dbname={database}' AS s (TYPE postgres, READ_ONLY)")
db.execute(f"COPY (SELECT * FROM s.public.{table}) TO '{file}' (FORMAT parquet, COMPRESSION lz4_raw)")
