"""Runs all drills against other people's clients, and writes Documentation/libraries.md: run.py [CLIENT…]

`make drills` runs it in the environment of the conformance tests. With clients named, only these are drilled, and the page has the others
as an earlier run has left them in .build/drills/results.json."""

import argparse
import concurrent.futures
import datetime
import json
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "Conformance"))

import clients  # noqa: E402
from libraries import libraries  # noqa: E402
from page import Page  # noqa: E402

BINARY = os.environ["APNS_EMULATOR_BINARY"]
RESULTS = os.path.join(clients.BUILT, "results.json")
PAGE = os.path.join(clients.ROOT, "Documentation", "libraries.md")
# Seconds for all drills of one client, the slowest of which waits for dead connections.
LIMIT = 40 * 60


def described(client):
    return {
        "name": client.name, "protocol": client.protocol, "about": client.about, "isOurs": client.is_ours,
        "path": os.path.relpath(clients.path_of(client), clients.ROOT)}


def drilled(client, options):
    """What the page has to know of one client, beside its description; `why` if it can't be drilled."""
    environment = clients.environment_of(client, client.folder and libraries(client.folder))
    known = {"key": client.key, "version": clients.version_of(client, environment)}
    if why := clients.load_error(client, environment):
        return known | {"why": f"Python {clients.python_version()} can't load it: `{why}`"}
    if why := clients.built_once(client, environment):
        return known | {"why": f"it can't be built: `{why}`"}
    command = clients.argument_list(client, client.command)
    words = [BINARY, "drill", "--json", "--jobs", str(options.jobs), "--pushes", str(options.pushes), "--", *command]
    with subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            output, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            # At SIGTERM it ends all that it has started.
            process.terminate()
            process.communicate()
            return known | {"why": f"its drills did not end within {LIMIT // 60} minutes"}
    return known | outcome(subprocess.CompletedProcess(words, process.returncode, output, errors))


def outcome(done):
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {"why": f"`{clients.last_line(done.stderr)}`"}
    if done.returncode not in (0, 1) or not report.get("drills"):
        # What the program said stands behind its own words, indented.
        said = [line for line in done.stderr.splitlines() if line.startswith("  ")]
        return {"why": f"without a fault {report['baseline']['sentence'].split(': ')[0]}: `{clients.last_line(os.linesep.join(said))}`"}
    return {"drills": report["drills"], "skipped": report["skipped"]}


def stored():
    try:
        with open(RESULTS) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def emulator_version():
    return subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.platform()


def write_page(results, options):
    ordered = [results[client.key] | described(client) for client in clients.CLIENTS if client.key in results]
    page = Page(
        [each for each in ordered if "drills" in each], [each for each in ordered if "why" in each],
        {"pushes": options.pushes, "date": datetime.date.today().isoformat(), "version": emulator_version(),
         "python": f"Python {clients.python_version()}", "system": system()})
    with open(options.page, "w") as file:
        file.write(page.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", help="such as " + ", ".join(client.key for client in clients.CLIENTS[:3]))
    parser.add_argument("--pushes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2, help="drills side by side")
    parser.add_argument("--at-once", type=int, default=2, help="clients side by side")
    parser.add_argument("--page", default=PAGE)
    parser.add_argument("--write", action="store_true", help="drill nobody, and write the page from what earlier runs have left")
    options = parser.parse_args()
    wanted = [client for client in clients.CLIENTS if not options.clients or client.key in options.clients]
    if unknown := set(options.clients) - {client.key for client in clients.CLIENTS}:
        parser.error(f"no such client: {', '.join(sorted(unknown))}; there are {', '.join(each.key for each in clients.CLIENTS)}")
    os.makedirs(clients.BUILT, exist_ok=True)
    wanted = [] if options.write else wanted
    results, start = stored() if options.clients or options.write else {}, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as workers:
        running = {workers.submit(drilled, client, options): client for client in wanted}
        for done in concurrent.futures.as_completed(running):
            result = done.result()
            results[result["key"]] = result
            told = result.get("why") or ", ".join(
                f"{each['id']} {each['verdict']}" for each in result["drills"] if not each["passed"]) or "all passed"
            print(f"{time.monotonic() - start:6.0f} s  {running[done].name}: {told}", flush=True)
            with open(RESULTS, "w") as file:
                json.dump(results, file, indent=1)
    write_page(results, options)
    print(f"{os.path.relpath(options.page)} is written")


if __name__ == "__main__":
    main()
