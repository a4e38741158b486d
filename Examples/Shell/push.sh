# shellcheck shell=sh
# To be sourced: pushes with curl, with the certificate that a server has had for years, or with the token key that is to follow.
#
#   APNS_HOST     https://api.push.apple.com
#   APNS_TOPIC    the app's bundle id
#   APNS_CA       whom to trust; the system's authorities if empty
#   APNS_CERT, APNS_CERT_KEY              push certificate and its key, in PEM
#   APNS_KEY, APNS_KEY_ID, APNS_TEAM      token key (.p8), its id and team
#   APNS_BUSY_PAUSE                       seconds until the second try while the service is busy; 900 if empty

# push_with_certificate TOKEN PAYLOAD: fails with Apple's reason unless it is accepted.
push_with_certificate() {
  push "$1" "$2" --cert "$APNS_CERT" --key "$APNS_CERT_KEY"
}

# push_with_key TOKEN PAYLOAD: the same. A certificate for one app says the topic; a key never does.
push_with_key() {
  push "$1" "$2" --header "authorization: bearer $(provider_token)"
}

# Tries five times at most: soon again after 429, which is about one phone; at once where one server of many shuts down; and after a
# quarter of an hour, as Apple asks, then later each time, where the service is busy. Fails with the last answer.
push() {
  push_token=$1 push_payload=$2
  shift 2
  for push_again in 1 2 4 8 0; do
    push_answer=$(curl --silent --show-error --http2 ${APNS_CA:+--cacert "$APNS_CA"} --write-out '%{http_code}' \
      --header "apns-topic: $APNS_TOPIC" --header "apns-push-type: alert" --data "$push_payload" "$@" \
      "$APNS_HOST/3/device/$push_token") || return
    push_status=${push_answer#"${push_answer%???}"} push_answer=${push_answer%???}
    case "$push_status $push_answer" in
      *TooManyRequests*) push_pause=$push_again ;;
      *Shutdown*) push_pause=0 ;;
      5*) push_pause=$((push_again * ${APNS_BUSY_PAUSE:-900})) ;;
      *) break ;;
    esac
    [ $push_again = 0 ] || sleep $push_pause
  done
  [ -z "$push_answer" ] || echo "$push_answer"
  [ "$push_status" = 200 ]
}

# A JSON Web Token, signed with ES256 by openssl. Good for an hour, and not to be made anew more often than every 20 minutes: keep it
# if there is more than one push.
provider_token() {
  unsigned=$(printf '{"alg":"ES256","kid":"%s"}' "$APNS_KEY_ID" | base64url).$(
    printf '{"iss":"%s","iat":%s}' "$APNS_TEAM" "$(date +%s)" | base64url)
  printf '%s.%s' "$unsigned" "$(printf '%s' "$unsigned" | openssl dgst -sha256 -sign "$APNS_KEY" | base64url)"
}

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
