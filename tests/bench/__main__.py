"""`make bench`: run the parts named on the command line, or all of them.

Every figure is a ratio of medians of interleaved rounds in this one run; absolute times of shared
machines mean little. The budgets are printed beside the ratios and judged by the reader.
"""

import argparse
import importlib
import os
import sys
import tempfile

PARTS = {
    "conversion": "a 40-turn conversation into each provider's format, against openreward's own",
    "importing": "conversations per second into SQLite, against reading the same lines",
    "serving": "CPU of GET /messages and /prompt, against the reference server",
    "episodes": "server CPU of whole episodes with the real client, against the reference server",
    "playing": "the clarification solver in the background, against bare calls",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench BENCH_ARGS=")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    chosen = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="turnwright-bench-") as var:
        os.environ["TURNWRIGHT_VAR"] = var
        os.environ["DJANGO_SETTINGS_MODULE"] = "apps.config.settings"
        os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"
        for part in chosen:
            print(f"\n{part}: {PARTS[part]}", flush=True)  # noqa: T201
            importlib.import_module(f"tests.bench.{part}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
