/* How a notification is sent again: as a command for a shell, or as a test push. */
import { postCommand } from './commands.js';
import { bytesOf, isText, textOf } from './format.js';
import { octal, quote } from './shell.js';
import { store } from './store.js';

const mayPush = topic => store.info !== null && (store.info.certificates || []).includes(topic);
const isOpen = listener => store.info !== null && listener in store.info.listeners;
const fieldOf = (notification, name) => (notification.headers.find(each => each.name === name) || { value: '' }).value;
export const isBroadcast = notification => notification.interface === 'provider' && fieldOf(notification, ':path').startsWith('/4/broadcasts/');
export const isFrameCommand = notification => notification.interface === 'gateway' && mayPush(notification.topic) && isOpen('gateway');
const isRequestCommand = notification => notification.interface !== 'gateway' && mayPush(notification.topic) && isOpen('provider');

/* Why nothing can be done with a push of which the history has only a part; null if it has all. */
export const partProblem = notification => notification.truncated
  ? `The history has only the beginning of this push. It was rejected because its payload of ${notification.payloadSize} bytes or one of its fields exceeds Apple’s limits.` : null;

/* Why it can't be sent again as a test push; null if it can. */
export function replayProblem(notification) {
  if (notification.truncated) return partProblem(notification);
  if (isBroadcast(notification)) return 'A broadcast goes to a channel, but a replay goes to a device token. Use “Copy as curl” instead.';
  const isToken = /^([0-9a-f]{2}){1,100}$/.test(notification.token);
  if (!notification.topic || !isToken) return `A push without ${isToken ? 'a topic' : 'a device token'} can’t be replayed.`;
  return null;
}

/* Why it can't be edited before it is sent again; null if it can. */
export function editProblem(notification) {
  return replayProblem(notification) || (isText(bytesOf(notification.payloadBase64)) ? null : 'The payload is not UTF-8 and can’t be edited as text. “Replay” sends the same bytes.');
}

/* Why there is no command that sends it; null if there is. */
export function commandProblem(notification) {
  if (notification.truncated) return partProblem(notification);
  if (isFrameCommand(notification) || isRequestCommand(notification)) return null;
  if (!isBroadcast(notification)) return replayProblem(notification);
  if (!isOpen('provider')) return 'The push can’t be copied as curl because the provider port is off.';
  return `The push can’t be copied as curl because there is no push certificate for ${notification.topic || 'its bundle id'}.`;
}

/* The same push from a shell: to the port it came in on, with the certificate that was issued for its topic; where
   there is none, as a test push, so that it always works as pasted. */
export function commandFor(notification) {
  if (isFrameCommand(notification)) return opensslCommand(notification);
  if (isRequestCommand(notification)) return curlCommand(notification);
  return postCommand('/api/v1/push', pushOf(notification));
}

const identityOf = topic => [`${store.info.certs}/push/${topic}.pem`, `${store.info.certs}/push/${topic}.key`].map(quote);

/* Apple's names say the environment; without one it is the emulator's. */
const appleName = (service, environment) => `${service}${environment === 'sandbox' ? '.sandbox' : ''}.push.apple.com`;

function opensslCommand(notification) {
  const { listeners: ports, ca } = store.info;
  const [certificate, key] = identityOf(notification.topic);
  return `(printf '${octal(bytesOf(notification.rawBase64))}'; sleep 1) | openssl s_client -quiet -no_ign_eof -connect ${ports.gateway.host}:${ports.gateway.port} `
    + `-servername ${appleName('gateway', notification.environment)} -CAfile ${quote(ca)} -cert ${certificate} -key ${key}`;
}

function curlCommand(notification) {
  const { listeners: ports, ca, environment } = store.info;
  const [certificate, key] = identityOf(notification.topic);
  const bytes = bytesOf(notification.payloadBase64);
  const isPlain = isText(bytes);
  const fields = notification.headers.filter(({ name }) => !name.startsWith(':') && !['authorization', 'content-length'].includes(name))
    .map(({ name, value }) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`);
  const way = isBroadcast(notification) ? fieldOf(notification, ':path') : `/3/device/${notification.token}`;
  const target = notification.environment === environment ? [quote(`https://localhost:${ports.provider.port}${way}`)]
    : [`--connect-to ::localhost:${ports.provider.port}`, quote(`https://${appleName('api', notification.environment)}${way}`)];
  return (isPlain ? '' : `printf '${octal(bytes)}' | `) + ['curl -sS --http2 -i', `--cacert ${quote(ca)}`, `--cert ${certificate}`, `--key ${key}`, ...fields,
    isPlain ? `--data-raw ${quote(textOf(bytes))}` : '--data-binary @-', ...target].join(' \\\n  ');
}

export function pushOf(notification) {
  const push = {
    protocol: notification.interface === 'gateway' ? 'legacy' : 'http2', token: notification.token, topic: notification.topic,
    environment: notification.environment, payloadBase64: notification.payloadBase64, priority: notification.priority,
  };
  if (notification.expiration) push.expiration = Math.floor(Date.parse(notification.expiration) / 1000);
  if (push.protocol === 'legacy') return { ...push, command: notification.command, identifier: notification.identifier || 0 };
  if (notification.collapseId) push.collapseId = notification.collapseId;
  return { ...push, pushType: notification.pushType };
}
