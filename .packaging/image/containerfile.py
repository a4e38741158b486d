"""What the last stage of a Containerfile says of the image, as an image's configuration has it.

Only what ours uses is understood: anything else is an error, so that the image can't come to differ from the file unnoticed.
"""

import json
import pathlib
import re

# What puts files there, which is the packer's own affair.
CONTENT = {"COPY"}
UNITS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9}


def read(path: pathlib.Path) -> dict:
    """The object `config` of an image's configuration. Docker's `Healthcheck` is beside what OCI defines, and is allowed there."""
    config = {"Env": [], "ExposedPorts": {}, "Labels": {}}
    for line in last_stage(path.read_text()):
        instruction, rest = line.split(maxsplit=1)
        if instruction not in CONTENT:
            apply(config, instruction, rest)
    return config


def last_stage(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    start = max(index for index, line in enumerate(lines) if line.startswith("FROM "))
    return lines[start + 1 :]


def apply(config: dict, instruction: str, rest: str) -> None:
    match instruction:
        case "ENV":
            config["Env"].append(re.sub(r'="(.*)"$', r"=\1", rest))
        case "LABEL":
            name, value = re.fullmatch(r'(\S+)="(.*)"', rest).groups()
            config["Labels"][name] = value
        case "EXPOSE":
            config["ExposedPorts"] |= {f"{port}/tcp": {} for port in rest.split()}
        case "USER":
            config["User"] = rest
        case "WORKDIR":
            config["WorkingDir"] = rest
        case "ENTRYPOINT":
            config["Entrypoint"] = json.loads(rest)
        case "CMD":
            config["Cmd"] = json.loads(rest)
        case "HEALTHCHECK":
            config["Healthcheck"] = health_check(rest)
        case _:
            raise SystemExit(f"the Containerfile says {instruction}, which the packer does not know")


def health_check(text: str) -> dict:
    """Durations are in nanoseconds there."""
    flags, command = text.split(" CMD ", maxsplit=1)
    options = dict(re.findall(r"--([a-z-]+)=(\S+)", flags))
    return {
        "Test": ["CMD", *json.loads(command)],
        "Interval": nanoseconds(options["interval"]),
        "Timeout": nanoseconds(options["timeout"]),
        "StartPeriod": nanoseconds(options["start-period"]),
        "Retries": int(options["retries"]),
    }


def nanoseconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", text).groups()
    return int(number) * UNITS[unit]
