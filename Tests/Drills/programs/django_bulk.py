"""django-push-notifications: all devices of the database at once."""

import sys

import django
from aioapns.connection import APNsDevelopmentClientProtocol
from django.conf import settings

from batch import HELLO, address, report, setting, tokens

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", USE_TZ=True,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "push_notifications"],
    PUSH_NOTIFICATIONS_SETTINGS={
        "APNS_AUTH_KEY_PATH": setting("KEY"), "APNS_AUTH_KEY_ID": setting("KEY_ID"), "APNS_TEAM_ID": setting("TEAM"),
        "APNS_TOPIC": setting("TOPIC"), "APNS_USE_SANDBOX": True})
django.setup()

from django.core.management import call_command  # noqa: E402
from push_notifications.exceptions import APNSError  # noqa: E402
from push_notifications.models import APNSDevice  # noqa: E402

# The library below has its server as a constant. The authority comes by SSL_CERT_FILE.
APNsDevelopmentClientProtocol.APNS_SERVER, APNsDevelopmentClientProtocol.APNS_PORT = "localhost", address("PROVIDER")[1]
call_command("migrate", verbosity=0)
APNSDevice.objects.bulk_create(APNSDevice(registration_id=token) for token in tokens)
try:
    for results in APNSDevice.objects.all().send_message(HELLO):
        for token, result in results.items():
            if result != "Success":
                report(token, result)
except APNSError as error:
    # It names reasons and no device tokens. Those that are bad or gone are inactive from now on.
    for device in APNSDevice.objects.filter(active=False):
        report(device.registration_id, "made inactive")
    sys.exit(f"the batch has ended: {error!r}")
