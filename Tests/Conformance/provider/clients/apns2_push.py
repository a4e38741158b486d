"""A provider on apns2: one connection, a batch whose streams run side by side."""

import collections
import collections.abc
import json
import sys

# Python 3.10 took these names away; the library's own library is older.
for name in ("Iterable", "Mapping", "MutableMapping", "MutableSet"):
    setattr(collections, name, getattr(collections.abc, name))

from apns2.client import APNsClient, Notification  # noqa: E402
from apns2.credentials import TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402

task = json.load(sys.stdin)
credentials = TokenCredentials(auth_key_path=task["key"], auth_key_id=task["keyId"], team_id=task["team"])
# The places that it has for them; the authority comes by SSL_CERT_FILE.
APNsClient.SANDBOX_SERVER, APNsClient.ALTERNATIVE_PORT = "localhost", task["port"]
client = APNsClient(credentials, use_sandbox=True, use_alternative_port=True)
results = collections.Counter()

# A batch answers by token, so that each token may be in it once. One token alone is pushed to one by one.
rounds = collections.defaultdict(list)
seen = collections.Counter()
for number, token in enumerate(task["tokens"]):
    rounds[seen[token]].append(Notification(token=token, payload=Payload(alert=str(number))))
    seen[token] += 1
for batch in rounds.values():
    if len(seen) > 1:
        for answer in client.send_notification_batch(batch, task["topic"]).values():
            results["200" if answer == "Success" else answer] += 1
    else:
        client.send_notification(batch[0].token, batch[0].payload, task["topic"])
        results["200"] += 1
print(json.dumps(results))
