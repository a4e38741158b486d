import asyncio

from aioapns import APNs, NotificationRequest


def test_an_order_is_shipped(apns_emulator, apns_device, apns_key, wait_for_push):
    async def ship():
        client = APNs(key=apns_key.p8, key_id=apns_key.key_id, team_id=apns_key.team_id, topic="com.example.app",
                      ssl_context=apns_emulator.ssl_context())
        client.pool.protocol_class.APNS_SERVER, client.pool.protocol_class.APNS_PORT = apns_emulator.provider
        return await client.send_notification(NotificationRequest(apns_device.token, {"aps": {"alert": "Shipped"}}))
    assert asyncio.run(ship()).is_successful
    assert wait_for_push(udid="phone-1").payload["aps"]["alert"] == "Shipped"
