#!/bin/sh
# From certificate to key, in steps that can be undone. Run by `apns-emulator exec`, which tells in the environment where the
# emulator is.
set -eu
cd "$(dirname "$0")"
. ./push.sh

APNS_HOST=https://$APNS_EMULATOR_PROVIDER APNS_CA=$APNS_EMULATOR_CA APNS_TOPIC=com.example.app
APNS_CERT=$APNS_EMULATOR_CERTS/push/$APNS_TOPIC.pem APNS_CERT_KEY=$APNS_EMULATOR_CERTS/push/$APNS_TOPIC.key
api=http://$APNS_EMULATOR_CONSOLE/api/v1
hello='{"aps":{"alert":"Hello"}}'

post() { curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' --data "$2" "$api$1"; }
is() { [ "$1" = "$2" ] || { echo "not ok - $3: expected $1, got $2" >&2; exit 1; }; echo "ok - $3"; }
# The statuses of all pushes so far.
statuses() { curl --silent "$api/notifications" | grep -o '"status":[0-9]*' | cut -d : -f 2 | paste -sd ' ' -; }

token=$(post "/devices/phone-1/apps/$APNS_TOPIC/install" '{}' | sed -E 's/.*"token":"([0-9a-f]+)".*/\1/')

# What a server does today.
post /certificates "{\"topics\": [\"$APNS_TOPIC\"]}" > /dev/null
push_with_certificate "$token" "$hello"
is "200" "$(statuses)" "the certificate is good"

# Both are good at the same time, for the same tokens: servers can change over one by one, and back.
APNS_TEAM=TEAM123456
APNS_KEY=$(apns-emulator certs key --certs "$APNS_EMULATOR_CERTS" --team $APNS_TEAM | head -1)
APNS_KEY_ID=$(basename "$APNS_KEY" .p8 | sed 's/AuthKey_//')
push_with_key "$token" "$hello"
push_with_certificate "$token" "$hello"
is "200 200 200" "$(statuses)" "certificate and key are good side by side"

# A key is for all apps of its team, so the topic has to be the right one.
answer=$(APNS_TOPIC=com.example.other; push_with_key "$token" "$hello" 2> /dev/null) && exit 1
is '{"reason":"DeviceTokenNotForTopic"}' "$answer" "a topic that is wrong is told"

# Who is busy is asked again: soon, or, if it is the whole service, after a quarter of an hour, which nobody has here.
post /reset '{"what": ["notifications"]}' > /dev/null
post /faults '{"name": "flood", "when": {"next": 1}, "effect": {"reason": "TooManyRequests"}}' > /dev/null
push_with_key "$token" "$hello" > /dev/null
is "429 200" "$(statuses)" "after too many pushes to a phone it is asked again"
post /reset '{"what": ["notifications"]}' > /dev/null
post /faults '{"name": "busy", "when": {"next": 1}, "effect": {"reason": "ServiceUnavailable"}}' > /dev/null
APNS_BUSY_PAUSE=0; push_with_key "$token" "$hello" > /dev/null
is "503 200" "$(statuses)" "a busy service is asked again"

# Once no server uses it any more, the certificate can go: it is refused in the handshake from now on.
apns-emulator certs revoke --certs "$APNS_EMULATOR_CERTS" --topic $APNS_TOPIC > /dev/null
! push_with_certificate "$token" "$hello" 2> /dev/null || exit 1
push_with_key "$token" "$hello"
is "503 200 200" "$(statuses)" "the key is good without the certificate"
