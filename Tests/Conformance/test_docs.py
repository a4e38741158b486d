"""The API's description and the page that it can be tried on. DASHBOARD_SHOTS=FOLDER keeps screenshots."""

import contextlib
import json
import os
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import TIMEOUT, SimulatedDevice, eventually


def send(emulator, path, method, operation):
    """An operation's own example; answers status and body."""
    query, headers, body = {}, {}, None
    for parameter in operation.get("parameters", []):
        if "example" not in parameter:
            continue
        value = str(parameter["example"])
        if parameter["in"] == "path":
            path = path.replace("{%s}" % parameter["name"], urllib.parse.quote(value, safe=""))
        elif parameter["in"] == "query":
            query[parameter["name"]] = value
        else:
            headers[parameter["name"]] = value
    for content_type, media in operation.get("requestBody", {}).get("content", {}).items():
        example = media["example"]
        body = (example if isinstance(example, str) else json.dumps(example)).encode()
        headers["Content-Type"] = content_type
    host, port = emulator.address("console")
    target = f"http://{host}:{port}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    request = urllib.request.Request(target, method=method.upper(), data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def connection(emulator, listener, protocol):
    context = ssl.create_default_context(cafile=emulator.ca)
    context.set_alpn_protocols([protocol])
    plain = socket.create_connection(emulator.address(listener), timeout=TIMEOUT)
    return context.wrap_socket(plain, server_hostname="localhost")


def secure(emulator):
    """Connections with TLS as the console lists them: the protocol that was agreed on, by the listener."""
    listed = [each for each in emulator.api("GET", "/api/v1/connections")["connections"] if each["tlsVersion"]]
    for each in listed:
        assert {"remoteAddress", "cipher", "serverName", "alpn", "peer", "queuedBytes"} <= each.keys(), each
    return {each["listener"]: each["alpn"] for each in listed if each["cipher"]}


def differences(value, schema, schemas, place):
    """Members of an answer that its schema does not tell of, and those that must be there and are not."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:
        choices = [each for each in schema["oneOf"] if value is None or each.get("type") != "null"]
        return min((differences(value, each, schemas, place) for each in choices), key=len)
    if isinstance(value, list):
        return [name for each in value for name in differences(each, schema.get("items", {}), schemas, place + "[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    told = schema["properties"]
    return [f"{place}.{name}" for name in value if name not in told] + [
        f"no {place}.{name}" for name in schema.get("required", []) if name not in value] + [
        name for known in told if known in value
        for name in differences(value[known], told[known], schemas, f"{place}.{known}")]


def test_every_example_is_answered_as_described(stopped_emulator):
    """In the order of the description, with what the examples tell of made anew each time."""
    emulator = stopped_emulator.start("--lenient", "--ephemeral")
    description = emulator.api("GET", "/api/v1/openapi.json")
    paths, schemas = description["paths"], description["components"]["schemas"]
    found = []

    def example(path):
        return paths[path]["post"]["requestBody"]["content"]["application/json"]["example"]

    count = 0
    for path, operations in paths.items():
        for method, operation in operations.items():
            # Of a node, and this one is alone: test_cluster_console. Of drill --serve: test_drill_serve.
            if path.startswith(("/api/v1/cluster", "/api/v1/drills")):
                continue
            # It has no end.
            if path in ("/api/v1/events", "/api/v1/devices/{udid}/stream"):
                continue
            emulator.api("POST", "/api/v1/import", example("/api/v1/import"))
            emulator.api("POST", "/api/v1/faults", {**example("/api/v1/faults"), "enabled": False})
            emulator.api("POST", "/api/v1/push", example("/api/v1/push"))
            if path == "/api/v1/keys/{keyId}":
                emulator.api("POST", "/api/v1/keys", example("/api/v1/keys") | {
                    "keyId": operation["parameters"][0]["example"]})
            if path == "/api/v1/notifications/{id}":
                newest = emulator.api("GET", "/api/v1/notifications?order=newest&limit=1")["notifications"][0]["id"]
                operation["parameters"][0]["example"] = newest
            with contextlib.ExitStack() as connections:
                if path.endswith("/stream/ack"):
                    host, port = emulator.address("console")
                    reader = connections.enter_context(socket.create_connection((host, port), timeout=TIMEOUT))
                    reader.sendall(f"GET {path[:-4].format(udid='phone-1')} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    assert reader.recv(12) == b"HTTP/1.1 200"
                if path == "/api/v1/connections":
                    for listener, protocol in (("provider", "h2"), ("courier", "apns-security-v3")):
                        connections.enter_context(connection(emulator, listener, protocol))
                    eventually(lambda: secure(emulator) == {"provider": "h2", "courier": "apns-security-v3"},
                               "both connections are listed with what TLS has settled")
                if "/phone" in path:
                    device = SimulatedDevice(emulator, "phone-1")
                    connections.callback(device.stop)
                    device.next("token")
                status, body = send(emulator, path, method, operation)
            assert 200 <= status < 300 and str(status) in operation["responses"], (method, path, status, body[:500])
            media = operation["responses"][str(status)].get("content", {}).get("application/json")
            if media and body:
                found += differences(json.loads(body), media["schema"], schemas, f"{method} {path}")
            count += 1
    assert count > 25 and found == []


@pytest.fixture
def page(chromium, emulator):
    chromium.resize(1100, 900)
    chromium.prefer("light")
    chromium.complaints.clear()
    chromium.open("http://%s:%s/docs" % emulator.address("console"))
    yield chromium
    # Away before the emulator goes, or the page would complain that it is gone.
    chromium.open("about:blank")


def shot(page, name):
    if folder := os.environ.get("DASHBOARD_SHOTS"):
        os.makedirs(folder, exist_ok=True)
        page.screenshot(os.path.join(folder, f"{name}.png"))


def opened(page, operation):
    page.until(f"document.getElementById({operation!r})")
    page.script(f"document.getElementById({operation!r}).open = true")
    page.until(f"document.querySelector('#{operation} button')")


def sent(page, operation):
    """Presses its button; the status and what is shown of the answer."""
    page.script(f"document.querySelector('#{operation} button.primary').click()")
    page.until(f"/^[1-5]/.test(document.querySelector('#{operation} .sent .badge')?.textContent)")
    page.until(f"document.querySelector('#{operation} .sent pre').textContent")
    return page.script(
        f"[document.querySelector('#{operation} .sent .badge').textContent,"
        f" document.querySelector('#{operation} .sent pre').textContent]")


def test_the_page_lists_routes_and_sends_their_examples(page, emulator):
    paths = emulator.api("GET", "/api/v1/openapi.json")["paths"]
    page.until("document.querySelectorAll('details.operation').length")
    assert page.script("document.querySelectorAll('details.operation').length") == sum(map(len, paths.values()))
    shot(page, "docs")
    page.click("Create them")
    page.shows("Phone and app created")
    opened(page, "postApiV1Push")
    status, text = sent(page, "postApiV1Push")
    assert status == "200" and json.loads(text)["state"] == "stored"
    page.script("document.getElementById('postApiV1Push').scrollIntoView()")
    shot(page, "docs-push")
    opened(page, "getApiV1TokensToken")
    status, text = sent(page, "getApiV1TokensToken")
    assert status == "200" and json.loads(text)["udid"] == "phone-1"
    # A stream is shown as it comes, and stops when told to.
    opened(page, "getApiV1Events")
    status, text = sent(page, "getApiV1Events")
    assert status == "200" and text.startswith("retry:")
    page.script("[...document.querySelectorAll('#getApiV1Events button')].find(b => b.textContent === 'Stop').click()")
    page.script("document.querySelector('input[type=search]').value = 'wait post'")
    page.script("document.querySelector('input[type=search]').dispatchEvent(new Event('input'))")
    assert page.script("[...document.querySelectorAll('details.operation')].filter(each => !each.hidden).length") == 1
    assert page.complaints == []


def test_the_page_fits_a_phone_and_the_dark(page):
    page.until("document.querySelectorAll('details.operation').length")
    page.resize(390, 844, is_mobile=True)
    page.prefer("dark")
    opened(page, "getApiV1Notifications")
    assert page.script("document.documentElement.scrollWidth") <= 390
    shot(page, "docs-phone")
    assert page.complaints == []


def test_the_page_on_metrics_names_each(emulator):
    with urllib.request.urlopen("http://%s:%s/metrics" % emulator.address("console"), timeout=TIMEOUT) as answer:
        lines = answer.read().decode().splitlines()
    said = {line.split()[2].removeprefix("apns_emulator_") for line in lines if line.startswith("# HELP ")}
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "Documentation", "metrics.md")) as file:
        rows = [line.split("|")[1] for line in file if line.startswith("| `")]
    named = {word for row in rows for word in row.split("`")[1::2]}
    assert len(said) > 20 and said <= named
    assert {name.split("_")[0] for name in named - said} <= {
        "capture", "forward", "forwarded", "hook", "cluster", "zone", "commit", "relay", "relayed", "unplaced"}


def test_the_page_on_the_api_names_each_filter(emulator):
    parameters = emulator.api("GET", "/api/v1/openapi.json")["paths"]["/api/v1/notifications"]["get"]["parameters"]
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "Documentation", "console-api.md")) as file:
        section = file.read().split("\n### Notifications\n")[1].split("\n#")[0]
    assert {each["name"] for each in parameters} <= set(section.split("`")[1::2])
