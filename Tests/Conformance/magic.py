"""Device tokens that make something go wrong without set-up, and fault rules: as `Documentation/faults.md` describes them."""


def magic(word):
    """The token that asks for `word`: its ASCII behind an exclamation mark, filled up with zeros to 32 bytes."""
    return f"!{word}".encode().ljust(32, b"\0")


class Rules:
    """Fault rules of a running emulator."""

    def __init__(self, emulator):
        self.emulator = emulator

    def add(self, effect, name="rule", when=None, **match):
        return self.emulator.api(
            "POST", "/api/v1/faults", {"name": name, "match": match, "when": when, "effect": effect})

    def preset(self, name):
        return self.emulator.api("POST", "/api/v1/faults", {"preset": name})

    def switch(self, isOn, name="rule"):
        return self.emulator.api("POST", "/api/v1/faults", {"name": name, "enabled": isOn})

    def delete(self, name="rule"):
        return self.emulator.api("DELETE", f"/api/v1/faults/{name}")

    def hits(self, name="rule"):
        return self.emulator.api("GET", f"/api/v1/faults/{name}")["hits"]
