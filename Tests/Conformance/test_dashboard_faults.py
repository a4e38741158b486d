"""Faults in the dashboard: the list of rules, and the form with the JSON and the command that make the same rule."""

import json
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import TIMEOUT, eventually
from test_dashboard import page, shot  # noqa: F401


@pytest.fixture
def editor(page):  # noqa: F811
    """The pane with its form."""
    page.script("location.hash = '#faults'")
    page.shows("No fault rules")
    page.until("document.querySelector('.fault-editor')")
    return page


def push_plainly(emulator):
    """The status of a push in plain HTTP, without credentials."""
    url = "http://%s:%s/3/device/%s" % (*emulator.address("console"), "ab" * 32)
    try:
        with urllib.request.urlopen(urllib.request.Request(url, b"{}", method="POST")) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def rules(emulator):
    return emulator.api("GET", "/api/v1/faults")["faults"]


def choose(page, *effects):  # noqa: F811
    for effect in effects:
        page.script(f"document.getElementById('fault-effect.{effect}').click()")


def write(page, **values):  # noqa: F811
    """Into fields, as a person types; `__` stands for the dot of a path."""
    for name, value in values.items():
        path = name.replace("__", ".")
        id = "fault-when" if path == "when" else "fault-json" if path == "json" else f"fault-{path}-value"
        page.script(f"""(field => {{ field.focus(); field.value = {json.dumps(value)}; field.dispatchEvent(new Event('input', {{ bubbles: true }})) }})
            (document.getElementById({json.dumps(id)}))""")


def written(page):  # noqa: F811
    return json.loads(page.script("document.getElementById('fault-json').value"))


def said(page, path):  # noqa: F811
    """What is wrong with a field, as it stands beside it."""
    return page.script(f"(each => each && !each.hidden ? each.innerText : '')(document.getElementById('problem-fault-{path}'))")


def test_a_fault_is_added_counted_and_switched_off(editor, emulator):
    page = editor  # noqa: F811
    page.click("outage")
    # A preset fills the form, and is no rule yet.
    assert written(page) == {"name": "outage", "effect": {"reason": "ServiceUnavailable"}} and rules(emulator) == []
    page.click("Add")
    page.shows("0 of 0")
    assert push_plainly(emulator) == 503
    page.shows("1 of 1", timeout=5)
    shot(page, "faults")
    page.script("document.querySelector('table input[type=checkbox]').click()")
    eventually(lambda: not emulator.api("GET", "/api/v1/faults/outage")["enabled"], "the rule is switched off")
    page.until("!document.querySelector('table input[type=checkbox]').checked")
    assert push_plainly(emulator) == 403
    page.click("Delete")
    page.shows("No fault rules")


def test_a_rule_that_is_being_written_stays_as_it_is(editor, emulator):
    """Injections draw the list anew, and nothing under the hands of somebody; what the form has no field for is added as it is."""
    page = editor  # noqa: F811
    page.click("outage")
    page.click("Add")
    page.shows("0 of 0")
    write(page, json='{"preset": "flaky"}')
    page.shows("The form has no field for preset. The rule is added as the JSON says.")
    assert push_plainly(emulator) == 503
    page.shows("1 of 1")
    assert page.script("document.activeElement.id") == "fault-json"
    assert written(page) == {"preset": "flaky"}
    page.click("Add")
    page.until("document.querySelectorAll('tbody tr').length === 2")
    assert [rule["name"] for rule in rules(emulator)] == ["outage", "flaky"]


def leaves(schema, path=""):
    """The paths of all values that a schema has."""
    choices = schema.get("oneOf", [schema])
    found = {path} if not any("properties" in each for each in choices) else set()
    for each in choices:
        for name, part in each.get("properties", {}).items():
            found |= leaves(part, f"{path}.{name}" if path else name)
    return found


def test_the_form_has_a_field_for_all_that_a_rule_may_have(editor, emulator):
    page = editor  # noqa: F811
    schema = emulator.api("GET", "/api/v1/openapi.json")["components"]["schemas"]["FaultRequest"]
    flags = {f"effect.{name}" for name, part in schema["properties"]["effect"]["properties"].items() if part["type"] == "boolean"}
    wanted = leaves(schema) - flags - {"enabled", "preset", "hits", "seen"}
    fields = page.script("[...document.querySelectorAll('.fault-editor [id^=fault-][id$=-value]')].map(each => each.id.slice(6, -6))")
    assert set(fields) == wanted and len(fields) == len(wanted)
    effects = page.script("[...document.querySelectorAll('.effect > label input')].map(each => each.id.slice(13))")
    assert set(effects) == set(schema["properties"]["effect"]["properties"])
    # And each has words that are more than its name in the API.
    named = page.script("[...document.querySelectorAll('.fault-editor label')].map(each => each.innerText.trim()).filter(each => /^[a-z]/.test(each))")
    assert named == []


def test_form_json_and_command_make_the_same_rule(editor, emulator):
    page = editor  # noqa: F811
    choose(page, "delayMs", "legacy", "goaway", "halfClose")
    write(page, name="all-at-once", match__topic="com.example.it's", match__priority="5", when="from", when__from="2026-01-02T03:04:05",
          effect__reason="Shutdown", effect__delayMs="20", effect__legacy__status="7", effect__goaway__reason="Shutdown")
    rule = {
        "name": "all-at-once", "match": {"interface": "provider", "topic": "com.example.it's", "priority": 5},
        "when": {"from": "2026-01-02T03:04:05Z"},
        "effect": {"reason": "Shutdown", "delayMs": 20, "legacy": {"status": 7}, "goaway": {"reason": "Shutdown"}, "halfClose": True}}
    assert written(page) == rule
    shot(page, "faults-form")
    page.click("Add")
    page.until("document.querySelectorAll('tbody tr').length === 1")
    [made] = rules(emulator)
    command = page.script("document.querySelector('.same pre').textContent")
    emulator.api("DELETE", "/api/v1/faults/all-at-once")
    subprocess.run(["bash", "-c", command], check=True, capture_output=True, timeout=TIMEOUT)
    [again] = rules(emulator)
    assert again == made and {name: made[name] for name in ("name", "match", "effect")} == {name: rule[name] for name in ("name", "match", "effect")}
    # JSON fills the form; a rule of the list does too, and is then replaced.
    write(page, json='{"effect": {"refuse": true}, "when": {"every": 3}}')
    assert page.script("document.getElementById('fault-effect.refuse').checked && document.getElementById('fault-when.every-value').value") == "3"
    assert not page.script("document.getElementById('fault-effect.reason').checked")
    page.click("Edit")
    page.until("document.querySelector('.fault-editor .primary').innerText === 'Replace'")
    assert page.script("document.getElementById('fault-effect.legacy.status-value').value") == "7"
    choose(page, "legacy")
    page.click("Replace")
    page.until("!document.querySelector('tbody').innerText.includes('legacy')")
    assert "legacy" not in rules(emulator)[0]["effect"]


def come_back(page):  # noqa: F811
    """From another pane."""
    page.script("location.hash = '#clock'")
    page.until("document.getElementById('clock-now')")
    page.script("location.hash = '#faults'")
    page.until("document.querySelector('.fault-editor')")


def test_no_rule_is_shown_while_something_is_wrong(editor, emulator):
    """Without the token the rule would match every push: it is not to be copied."""
    page = editor  # noqa: F811
    shown = "[document.getElementById('fault-json').value, document.querySelectorAll('.same pre').length, document.querySelector('[aria-label=\"Copy the JSON\"]').disabled]"
    assert page.script(shown)[1:] == [1, False]
    write(page, match__token="abc")
    assert page.script(shown) == ["", 0, True] and "correct the marked ones" in page.text()
    come_back(page)
    assert page.script(shown) == ["", 0, True] and said(page, "match.token").endswith('got "abc"')
    page.click("Add")
    assert page.script("document.activeElement.id") == "fault-match.token-value" and rules(emulator) == []
    write(page, match__token="ab")
    assert written(page)["match"] == {"interface": "provider", "token": "ab"} and page.script(shown)[1:] == [1, False]
    # A rule that is written as JSON and lacks something stays as it is, but makes no command.
    write(page, json='{"effect": {"legacy": {}}}')
    assert page.script(shown) == ['{"effect": {"legacy": {}}}', 0, False]


def test_broken_json_stays_until_it_is_mended_or_given_up(editor):
    page = editor  # noqa: F811
    fields = "[...document.querySelectorAll('.entry')].filter(each => !each.hidden).map(each => each.querySelector('input, select').id)"
    before, rule, broken = page.script(fields), written(page), '{"effect": {"reset": true}, '
    write(page, json=broken)
    for back in (False, True):
        if back:
            come_back(page)
        choose(page, "refuse")
        assert page.script("document.getElementById('fault-json').value") == broken
        assert said(page, "json").startswith("This is not JSON") and "Correct the JSON to use the form again" in page.text()
        assert page.script(fields) == before and not page.script("document.querySelector('.same pre')")
    shot(page, "faults-broken")
    page.click("Use the form instead")
    assert written(page) == rule and said(page, "json") == "" and page.script("document.activeElement.id") == "fault-json"
    write(page, json=broken)
    write(page, json='{"effect": {"reset": true}}')
    choose(page, "goaway")
    assert written(page) == {"effect": {"reset": True, "goaway": {}}}


def test_what_is_wrong_stands_beside_its_field(editor, emulator):
    page = editor  # noqa: F811
    choose(page, "rstStream")
    # Nobody is told of what he has not come to yet, until he asks for the rule.
    assert said(page, "effect.rstStream") == ""
    page.click("Add")
    assert said(page, "effect.rstStream") == "Expected a number from 0 to 4294967295, got nothing"
    assert page.script("document.activeElement.id") == "fault-effect.rstStream-value"
    write(page, effect__rstStream="x")
    assert said(page, "effect.rstStream").endswith('got "x"') and page.script("document.activeElement.getAttribute('aria-invalid')") == "true"
    write(page, effect__rstStream="8")
    assert said(page, "effect.rstStream") == "" and written(page)["effect"]["rstStream"] == 8
    choose(page, "tlsAlert")
    assert "one kind" in said(page, "effect")
    choose(page, "rstStream", "reason")
    # What only the emulator knows stands there too, in its words.
    write(page, effect__tlsAlert="44", match__topic="com.example.app")
    page.click("Add")
    page.until("!document.getElementById('problem-fault-match.topic').hidden")
    assert said(page, "match.topic").startswith("Expected none, as a new connection has no topic yet")
    shot(page, "faults-problem")
    write(page, json='{"effect": ')
    assert said(page, "json").startswith("This is not JSON")
    page.click("Add")
    write(page, json='{"effect": {"reset": true, "rest": 1}}')
    page.click("Add")
    page.until("!document.getElementById('problem-fault-json').hidden")
    assert "rest" in said(page, "json")
    assert rules(emulator) == [] and page.script("document.querySelectorAll('.toast').length") == 0
    # The browser notes each refusal.
    page.complaints[:] = [each for each in page.complaints if "400" not in str(each)]
