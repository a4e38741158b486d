"""pyapns_client: one push after the other, with the exceptions that it documents."""

from pyapns_client import (
    APNSClient, APNSDeviceException, APNSProgrammingException, APNSServerException, IOSNotification, IOSPayload, IOSPayloadAlert)

from batch import HELLO, address, report, setting, tokens

# Its server is a constant.
APNSClient.BASE_URLS[APNSClient.MODE_DEV] = f"https://localhost:{address('PROVIDER')[1]}"
client = APNSClient(
    mode=APNSClient.MODE_DEV, root_cert_path=setting("CA"), auth_key_path=setting("KEY"), auth_key_id=setting("KEY_ID"),
    team_id=setting("TEAM"))
try:
    notification = IOSNotification(payload=IOSPayload(alert=IOSPayloadAlert(body=HELLO)), topic=setting("TOPIC"))
    for token in tokens:
        try:
            client.push(notification=notification, device_token=token)
        except (APNSDeviceException, APNSServerException, APNSProgrammingException) as error:
            report(token, type(error).__name__)
finally:
    client.close()
