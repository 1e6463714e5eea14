import sys

import arrow_odbc
import pyarrow.parquet

port, user, database, table, readers, file = sys.argv[1:]
batches = arrow_odbc.read_arrow_batches_from_odbc(
    query=f"SELECT * FROM {table}",
    connection_string="Driver=/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so;Server=127.0.0.1;"
    f"Port={port};Uid={user};Database={database};UseDeclareFetch=1;Fetch=10000;",
    batch_size=10000,
    max_text_size=256,
)
with pyarrow.parquet.ParquetWriter(file, batches.schema, compression="lz4") as writer:
    for batch in batches:
        writer.write_batch(batch)
