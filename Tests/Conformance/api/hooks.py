"""What schemathesis must be told about this API."""

import re

import schemathesis

# What the test has made, so that every second request is about something that is there.
KNOWN = {"udid": "phone", "topic": "com.example.app", "id": 1}
VALID = {"udid": r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", "topic": r"[A-Za-z0-9._-]{1,255}", "id": r"[1-9][0-9]*"}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    for name, value in (path_parameters or {}).items():
        # What is wrong on purpose stays so.
        if name in KNOWN and re.fullmatch(VALID[name], str(value)) and len(str(value)) % 2:
            path_parameters[name] = KNOWN[name]
    return path_parameters


@schemathesis.hook
def before_call(context, case, kwargs):
    """A wait may last ten minutes, and five seconds unless told; a test has no time for that. Nor are faults injected into the
    test's own requests: rules come switched off."""
    if not isinstance(case.body, dict):
        return
    if case.path == "/api/v1/faults" and isinstance(case.body.get("enabled", True), bool):
        case.body["enabled"] = False
    if case.path.endswith("/wait"):
        asked = case.body.get("timeoutMs", 20)
        case.body["timeoutMs"] = min(asked, 20) if type(asked) in (int, float) else asked
