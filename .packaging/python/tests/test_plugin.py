"""The pytest plugin, as other people's tests have it."""

import pytest

SEND = """
    def send(emulator, device):
        return emulator.send(device.token, "com.example.app", {"aps": {"alert": "Hello"}})
"""


def test_each_test_has_an_emulator_that_is_as_new(pytester):
    pytester.makepyfile(SEND + """
    seen = []

    def test_one(apns_emulator, apns_device, wait_for_push):
        apns_emulator.faults.add_preset("throttled")
        apns_emulator.clock.advance("1h")
        assert send(apns_emulator, apns_device).reason == "TooManyRequests"
        apns_emulator.faults.clear()
        assert send(apns_emulator, apns_device).accepted and wait_for_push(reason="TooManyRequests")
        seen.append(apns_emulator.console)

    def test_other(apns_emulator):
        assert seen == [apns_emulator.console]
        assert apns_emulator.notifications() == [] and len(apns_emulator.faults) == 0
        assert apns_emulator.console_api.get("/api/v1/clock")["offset"] == 0
        assert apns_emulator.console_api.get("/api/v1/tokens")["tokens"] == []
    """)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_what_was_pushed_is_shown_with_a_test_that_fails(pytester):
    pytester.makepyfile(SEND + """
    def test_fails(apns_emulator, apns_device):
        send(apns_emulator, apns_device)
        assert False
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pushes that the emulator got*", "#1 com.example.app to phone-1: accepted, stored, *Hello*"])


def test_flags_topic_and_team_come_from_the_ini_file_and_the_command_line(pytester):
    pytester.makeini("""
    [pytest]
    apns_emulator_flags = --environment production
    apns_emulator_topic = org.example.shop
    apns_emulator_team = DEF123GHIJ
    """)
    pytester.makepyfile("""
    def test_it(apns_emulator, apns_device, apns_key):
        assert apns_emulator.environment == "production"
        assert list(apns_device.tokens) == ["org.example.shop"] and apns_key.team_id == "DEF123GHIJ"
        assert apns_emulator.console_api.get("/api/v1/info")["seed"] == "17"
    """)
    pytester.runpytest_subprocess("--apns-emulator-flags=--seed 17").assert_outcomes(passed=1)


def test_a_flag_that_is_wrong_is_told_with_the_test(pytester):
    pytester.makepyfile("def test_it(apns_emulator): pass")
    result = pytester.runpytest_subprocess("--apns-emulator-flags=--colour blue")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*did not start*", "*--colour*"])


def test_workers_of_xdist_have_an_emulator_each(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile("""
    import pathlib
    import pytest

    @pytest.mark.parametrize("number", range(4))
    def test_it(apns_emulator, worker_id, number):
        assert apns_emulator.notifications() == []
        apns_emulator.send(apns_emulator.device("phone-1", "com.example.app").token, "com.example.app", {"aps": {}})
        pathlib.Path(f"{worker_id}-{apns_emulator.console.port}").touch()
    """)
    pytester.runpytest_subprocess("-n", "2").assert_outcomes(passed=4)
    workers = [path.name.split("-") for path in pytester.path.glob("gw*")]
    assert len({port for _, port in workers}) == len({worker for worker, _ in workers}) == len(workers)


def test_it_costs_nothing_where_no_test_asks_for_it(pytester):
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_subprocess("--setup-show").stdout.no_fnmatch_line("*apns_emulator*")
