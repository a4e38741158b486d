/* Times, bytes, and the words for states; no elements. */

/* Times are those of the API and the log, in UTC as the clock above, wherever the reader is. */
export function clockTime(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? String(text) : time.toISOString().slice(11, 23);
}

export function dateTime(text) {
  if (!text) return '–';
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? String(text) : time.toISOString().slice(0, 19).replace('T', ' ');
}

export function duration(milliseconds) {
  // Rounded first, so that no part comes to a whole of the next.
  const exact = Math.abs(milliseconds) / 1000, seconds = Math.round(exact * 10) / 10;
  if (exact < 1) return `${Math.round(milliseconds)} ms`;
  const sign = milliseconds < 0 ? '-' : '';
  const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24, minutes = Math.floor(seconds / 60) % 60;
  const parts = [days && `${days} d`, hours && `${hours} h`, minutes && `${minutes} min`, !days && `${+(seconds % 60).toFixed(1)} s`];
  return sign + parts.filter(Boolean).slice(0, 3).join(' ');
}

/* A count where there is little room: 10,000 is the history's length, a million tokens are possible. */
export const compact = count => count < 100000 ? String(count) : count.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });

export const short = token => token.length > 20 ? `${token.slice(0, 8)}…${token.slice(-4)}` : token;

export function bytesOf(base64) {
  const text = atob(base64 || '');
  return Uint8Array.from(text, character => character.charCodeAt(0));
}

export function base64Of(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

export const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
export const textOf = bytes => new TextDecoder().decode(bytes);

/* Whether bytes are a text, so that they are the same again after somebody has looked at it. */
export const isText = bytes => hexOf(new TextEncoder().encode(textOf(bytes))) === hexOf(bytes);
export const stateClass = { delivered: 'good', sent: 'wait', stored: 'wait', rejected: 'bad', expired: 'warn', replaced: 'warn', discarded: 'warn' };

/* Why it was not taken: the reason that the provider was told, or the fault that left it without one. */
export const refusalOf = ({ verdict }) => verdict.reason || (verdict.fault ? `fault ${verdict.fault.name}` : 'no reason');

export const outcomeOf = notification => notification.verdict.accepted ? (notification.verdict.status === null ? 'Accepted, not answered' : 'Accepted')
  : notification.verdict.status === null ? `Not answered: ${refusalOf(notification)}` : `Rejected: ${refusalOf(notification)}`;

/* Begins with a capital, but for names that have their own way. */
export const sentence = text => text.replace(/^(?!iOS|aps)./, letter => letter.toUpperCase());
export const interfaceName = { gateway: 'gateway', provider: 'HTTP/2', console: 'console' };

/* What a list shows of a payload: the words of its alert, or what else it is. */
export function headline(notification) {
  const payload = notification.payload;
  const aps = payload && typeof payload === 'object' ? payload.aps : null;
  const alert = aps && typeof aps === 'object' ? aps.alert : null;
  if (typeof alert === 'string') return alert;
  if (alert && typeof alert === 'object') {
    const words = [alert.title, alert.subtitle, alert.body, alert['loc-key']].filter(part => typeof part === 'string');
    if (words.length) return words.join(' · ');
  }
  if (payload === null) return notification.payloadBase64 ? 'payload that is not JSON' : 'no payload';
  if (aps && aps['content-available'] === 1) return 'silent push';
  if (aps && aps.badge !== undefined) return `badge ${aps.badge}`;
  return JSON.stringify(payload);
}

/* As `apns-push-type` says them. */
export const pushTypes = ['alert', 'background', 'location', 'voip', 'complication', 'fileprovider', 'mdm', 'liveactivity', 'pushtotalk', 'widgets', 'controls'];

/* What a connection is there for: its devices, its requests under way or the name it asked for, and what it asked the proxy for. */
export const purpose = ({ devices, streams, serverName, proxy }) =>
  [devices ? devices.join(', ') : streams !== undefined ? `${streams} ${streams === 1 ? 'stream' : 'streams'}` : serverName || '', proxy ? `proxy: ${proxy}` : '']
    .filter(Boolean).join(' · ') || '–';
