import sys

import connectorx
import pyarrow.parquet

port, user, database, table, readers, file = sys.argv[1:]
parallel = {"partition_on": "id", "partition_num": int(readers)} if int(readers) > 1 else {}
url = f"postgresql://{user}@127.0.0.1:{port}/{database}"
rows = connectorx.read_sql(url, f"SELECT * FROM {table}", return_type="arrow", **parallel)
pyarrow.parquet.write_table(rows, file, compression="lz4")
