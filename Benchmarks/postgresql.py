#!/usr/bin/env python3
"""Compares commits of the PostgreSQL store with pgbench, which runs the same statements with as many clients on the same server.

    swift build --package-path Benchmarks -c release --traits PostgreSQL --product postgresql
    Benchmarks/postgresql.py [SECONDS] [ROUNDS]

Both run in turn, and the medians of the rounds are compared. Needs a PostgreSQL server and pgbench; as root, also `setpriv`.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from instances import Server, binaries, package

seconds = sys.argv[1] if len(sys.argv) > 1 else "5"
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
benchmark = package / ".build" / "release" / "postgresql"

# The statements of a commit of one record, and the exchange that ends it.
SCRIPT = """\\set key random(1, 1000)
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SELECT pg_advisory_xact_lock_shared(1);
SELECT pg_advisory_xact_lock(:client_id * 1000 + :key);
INSERT INTO inward_records AS old (address, value) VALUES (
    decode(md5(:client_id::text || ' ' || :key::text), 'hex'), decode(repeat('07', 200), 'hex'))
ON CONFLICT (address) DO UPDATE SET value = excluded.value, version = excluded.version;
SELECT pg_current_xact_id();
COMMIT;
"""

with tempfile.TemporaryDirectory() as directory:
    script = pathlib.Path(directory, "commit.sql")
    script.write_text(SCRIPT)
    server = Server(directory)
    try:
        server.start()
        info = server.info
        subprocess.run([benchmark, info, "1", "1"], check=True, stdout=subprocess.DEVNULL)
        print("tasks  commits/s  pgbench/s  ratio  1,000 records under a key (ms)  1,000 keys (ms)")
        for tasks in (1, 16, 64):
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append([float(word) for word in subprocess.check_output([benchmark, info, str(tasks), seconds]).split()])
                output = subprocess.check_output(
                    [binaries / "pgbench", "-h", directory, "-U", "inward", "-n", "-M", "prepared", "-f", script,
                     "-c", str(tasks), "-j", str(min(tasks, os.cpu_count())), "-T", seconds, "postgres"],
                    text=True, stderr=subprocess.DEVNULL,
                )
                theirs.append(float(re.search(r"tps = ([\d.]+)", output).group(1)))
            rate, listing, many = (statistics.median(values) for values in zip(*ours))
            peer = statistics.median(theirs)
            print(f"{tasks:5}  {rate:9.0f}  {peer:9.0f}  {rate / peer:5.2f}  {listing:30.1f}  {many:15.1f}")
    finally:
        server.stop()
