import sys

import adbc_driver_postgresql.dbapi
import pyarrow.parquet

port, user, database, table, readers, file = sys.argv[1:]
with adbc_driver_postgresql.dbapi.connect(f"postgresql://{user}@127.0.0.1:{port}/{database}") as connection:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        batches = cursor.fetch_record_batch()
        with pyarrow.parquet.ParquetWriter(file, batches.schema, compression="lz4") as writer:
            for batch in batches:
                writer.write_batch(batch)
