// What relays take from app servers, and what they make of it for Apple: for tests of a server that sends by one, and for a way off
// it. Each function answers the arguments for `APNs.push`: payload and header fields.

/** Amazon SNS: members are strings that hold JSON, what is not payload comes as attributes. */
export function fromSNS(message, attributes = {}, { sandbox = true, now = Date.now() } = {}) {
  const texts = JSON.parse(message);
  const text = texts[sandbox ? "APNS_SANDBOX" : "APNS"];
  const attribute = (name) => attributes[`AWS.SNS.MOBILE.APNS.${name}`]?.StringValue;
  const ttl = attribute("TTL");
  return {
    payload: text ? JSON.parse(text) : { aps: { alert: texts.default } },
    fields: given({
      "apns-topic": attribute("TOPIC"),
      "apns-push-type": attribute("PUSH_TYPE"),
      "apns-priority": attribute("PRIORITY"),
      "apns-collapse-id": attribute("COLLAPSE_ID"),
      "apns-expiration": ttl && String(Math.floor(now / 1000) + Number(ttl)),
    }),
  };
}

/** FCM's HTTP v1: a notification for all platforms, and what is said for Apple's on top of it. */
export function fromFCM({ message }, messageId) {
  const { notification = {}, data = {}, apns = {} } = message;
  const { aps = {}, ...custom } = apns.payload ?? {};
  const { title, body } = notification;
  const image = apns.fcm_options?.image ?? notification.image;
  return {
    payload: {
      aps: given({
        alert: title || body ? given({ title, body }) : undefined,
        ...aps,
        ...(image && { "mutable-content": 1 }),
      }),
      "gcm.message_id": messageId,
      ...data,
      ...custom,
      ...(image && { fcm_options: { image } }),
    },
    fields: { ...apns.headers },
  };
}

function given(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
