"""A Django project with django-push-notifications as its own documentation sets it up. It knows no host but Apple's."""

import json
import sys

import django
from django.conf import settings

task = json.load(sys.stdin)
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", USE_TZ=True,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "push_notifications"],
    PUSH_NOTIFICATIONS_SETTINGS={
        "APNS_AUTH_KEY_PATH": task["key"], "APNS_AUTH_KEY_ID": task["keyId"], "APNS_TEAM_ID": task["team"],
        "APNS_TOPIC": task["topic"], "APNS_USE_SANDBOX": True})
django.setup()

from django.core.management import call_command  # noqa: E402
from push_notifications.exceptions import APNSError  # noqa: E402
from push_notifications.models import APNSDevice  # noqa: E402

call_command("migrate", verbosity=0)
devices = [APNSDevice.objects.create(registration_id=token) for token in task["tokens"]]
results = [devices[0].send_message("Hello from Django")]
try:
    APNSDevice.objects.all().send_message("Hello to all")
except APNSError as error:
    results.append(str(error))
active = {device.registration_id: device.active for device in APNSDevice.objects.all()}
print(json.dumps({"results": results, "active": active}))
