"""Every attack that the emulator once fell to, beside a healthy peer, as a table of what was measured and what is expected.

    python table.py [--binary FILE] [--seconds N] [words that the rows must have]

Ends with 1 if anything is not as expected. It ends by itself, uses free ports on loopback and folders of its own."""

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "provider")]
    if "--binary" in sys.argv:
        os.environ["APNS_EMULATOR_BINARY"] = os.path.abspath(sys.argv[sys.argv.index("--binary") + 1])
    os.environ.setdefault("APNS_EMULATOR_BINARY", os.path.join(HERE, "../../../.build/release/apns-emulator"))

import bridge  # noqa: E402
import clocks  # noqa: E402
import console_bodies  # noqa: E402
import console_floods  # noqa: E402
import device_acknowledgements as devices  # noqa: E402
import device_floods  # noqa: E402
import endings  # noqa: E402
import hooks  # noqa: E402
import http2_floods as floods  # noqa: E402
import http2_states  # noqa: E402
import log_unread  # noqa: E402
import memory_kept  # noqa: E402
import proxy_floods  # noqa: E402
import strangers  # noqa: E402
import topic_floods  # noqa: E402
from rig import Run, issue  # noqa: E402


@dataclass
class Row:
    number: str
    what: str
    attack: object
    # Whether its expectation takes so long to show that it is asked by hand only.
    is_long: bool = False


def nothing(run):
    lab = run.quiet_lab()
    with run.beside(lab):
        time.sleep(run.seconds)


ROWS = [
    Row("0", "nobody attacks", nothing),
    Row("1a", "stderr is a pipe that nobody reads", log_unread.attack_pipe),
    Row("1b", "stderr is a terminal that is stopped", log_unread.attack_terminal),
    Row("2", "a device with a full window acknowledges unknown ids", devices.attack_unknown),
    Row("3a", "the wall clock is stepped", clocks.attack_wall_clock),
    Row("3b", "the emulator's clock is set back and frozen", clocks.attack_own_clock),
    Row("4", "HTTP/1.1 requests without end, answers unread", console_floods.attack_pipelining),
    Row("5a", "a device acknowledges every 0.5 s", devices.attack_slow),
    Row("5b", "a device never reads, the emulator's clock is frozen", devices.attack_slow_clock_back),
    Row("6a", "four connections of empty DATA", floods.attack_empty_data),
    Row("6b", "four connections of WINDOW_UPDATE", floods.attack_window_updates),
    Row("6c", "four connections of HPACK bombs", floods.attack_headers),
    Row("7a", "1,000 half-open streams", floods.attack_half_open, is_long=True),
    Row("7b", "60 devices that never read", floods.attack_never_reading),
    Row("7c", "200 answers of limit=1000 unread", console_floods.attack_unread_answers),
    Row("8a", "limit=10000 again and again", console_floods.attack_long_answers),
    Row("8b", "900 waits", console_floods.attack_waits),
    Row("9", "frames on streams that are closed", http2_states.attack),
    Row("10", "an upstream gives interim answers", bridge.attack_interim),
    Row("11", "1,100 long polls", console_floods.attack_polls),
    Row("12a", "a commit fails", endings.attack_full_disk),
    Row("12b", "SIGHUP", endings.attack_hangup),
    Row("12c", "a device's connect is replayed", endings.attack_replayed_connect),
    Row("12d", "crit in a provider token", endings.attack_unknown_demand),
    Row("13", "kill -9 of the bridge", bridge.attack_kill),
    Row("14a", "1,100 half CONNECTs", proxy_floods.attack_half_open),
    Row("14b", "four floods of CONNECTs", proxy_floods.attack_floods),
    Row("14c", "tunnels to a server that never reads", proxy_floods.attack_tunnels),
    Row("15a", "5,000 device streams come and vanish", console_floods.attack_vanishing_streams),
    Row("15b", "200 device streams that never read", console_floods.attack_unread_streams),
    Row("15c", "200 device streams that read all that is pushed", console_floods.attack_read_streams),
    Row("16", "a device asks for tokens of apps that it invents", topic_floods.attack),
    Row("17a", "an import of 100 certificates and 50,000 rows", console_bodies.attack_import),
    Row("17b", "16 MiB of JSON values", console_bodies.attack_values),
    Row("18a", "a device with 4,096 rows sends empty filters", device_floods.attack_filters),
    Row("18b", "three devices tell of their phones what is costly to read", device_floods.attack_reports),
    Row("18c", "broadcasts to 20,000 listeners, and listeners that leave", device_floods.attack_broadcasts),
    Row("20a", "activations without end, by keys that are dear to use too", strangers.attack_activations),
    Row("20b", "devices connect with keys that are dear to use", strangers.attack_connects),
    Row("20c", "files that take long to decipher", strangers.attack_slow_bundle),
    Row("21a", "hooks write without end, then SIGTERM", hooks.attack_end),
    Row("21b", "hooks write without end, for 35 s", hooks.attack_deadline, is_long=True),
    Row("19a", "2,000 refused test pushes of 64 KiB", memory_kept.attack_refused),
    Row("19b", "error packets beside 100 devices that never read", memory_kept.attack_error_packets),
    Row("19c", "50 connections of half-open streams go", memory_kept.attack_flood_over),
]


def carry_out(row, certs, seconds, is_short=False):
    """One row; answers its checks."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        run = Run(folder, certs, seconds, is_short)
        try:
            row.attack(run)
        except Exception as error:  # The attack could not go on: that is a result, too.
            run.holds("the attack came to its end", False, f"{type(error).__name__}: {error}"[:200], "it does")
        finally:
            run.close()
        return run.checks


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", help="the program (a release build by default)")
    arguments.add_argument("--seconds", type=float, default=8, help="how long each attack lasts")
    arguments.add_argument("words", nargs="*", help="numbers of rows, or words of what they do")
    asked = arguments.parse_args()
    rows = [row for row in ROWS if not asked.words or any(
        row.number.rstrip("abcd") == word or row.number == word or len(word) > 3 and word.lower() in row.what.lower()
        for word in asked.words)]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        certs = issue(folder)
        for row in rows:
            print(f"{row.number:>3}  {row.what}", flush=True)
            for check in carry_out(row, certs, asked.seconds):
                wrong += not check.is_right
                print(f"     {check}", flush=True)
    print(f"{len(rows)} attacks, {wrong} expectations not met")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
