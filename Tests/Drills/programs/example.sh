#!/bin/sh
# example.sh COMMAND: runs a sender of Examples on the file of device tokens, and writes into the report what it could not send.
export APNS_HOST="https://localhost:${APNS_EMULATOR_PROVIDER##*:}" APNS_TOPIC="$APNS_EMULATOR_TOPIC" APNS_CA="$APNS_EMULATOR_CA" \
  APNS_KEY="$APNS_EMULATOR_KEY" APNS_KEY_ID="$APNS_EMULATOR_KEY_ID" APNS_TEAM="$APNS_EMULATOR_TEAM"
outcomes=$("$@" "$APNS_EMULATOR_TOKEN_FILE")
status=$?
printf '%s' "$outcomes" | grep -v ' sent$' > "$APNS_EMULATOR_REPORT"
exit "$status"
