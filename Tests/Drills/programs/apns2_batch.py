"""apns2 (PyAPNs2): a batch, whose answer tells the outcome of each device token."""

import collections
import collections.abc
import sys

# Python 3.10 took these names away; the library below apns2 is older.
for name in ("Iterable", "Mapping", "MutableMapping", "MutableSet"):
    setattr(collections, name, getattr(collections.abc, name))

from apns2.client import APNsClient, Notification  # noqa: E402
from apns2.credentials import TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402

from batch import HELLO, address, report, setting, tokens  # noqa: E402

credentials = TokenCredentials(auth_key_path=setting("KEY"), auth_key_id=setting("KEY_ID"), team_id=setting("TEAM"))
# The places that it has for them. The authority comes by SSL_CERT_FILE.
APNsClient.SANDBOX_SERVER, APNsClient.ALTERNATIVE_PORT = "localhost", address("PROVIDER")[1]
client = APNsClient(credentials, use_sandbox=True, use_alternative_port=True)
notifications = [Notification(token=token, payload=Payload(alert=HELLO)) for token in tokens]
try:
    for token, result in client.send_notification_batch(notifications, setting("TOPIC")).items():
        if result != "Success":
            report(token, result)
except Exception as error:
    sys.exit(f"the batch has ended: {error!r}")
