/* The payload as a tree, and how much of the limit it takes. */
import { button, h } from './dom.js';
import { draftOf, explained, notJSON } from './explain.js';
import { bytesOf, textOf } from './format.js';
import { copy } from './notices.js';
import { isBroadcast, partProblem } from './resend.js';

/* Apple's limits, in bytes. */
export function payloadLimit(notification) {
  if (notification.interface === 'gateway') return 2048;
  return isBroadcast(notification) ? 5120 : notification.pushType === 'voip' ? 5120 : 4096;
}

export function payloadPanel(notification) {
  const bytes = bytesOf(notification.payloadBase64);
  const limit = payloadLimit(notification);
  const count = notification.truncated ? notification.payloadSize : bytes.length;
  const size = h('p', {}, h('meter', { min: 0, max: limit, high: limit * 0.9, value: Math.min(count, limit), 'aria-label': 'Payload size' }),
    h('span', { class: count > limit ? 'bad' : '' }, ` ${count} of ${limit} bytes`));
  const text = textOf(bytes);
  return [size,
    notification.payload === null ? whyNot(notification) : h('div', { class: 'tree' }, treeNode(null, notification.payload)),
    h('h3', {}, 'As received'), h('pre', { class: 'break' }, text),
    h('div', { class: 'row' }, button('Copy payload', () => copy(text, 'Payload')))];
}

/* Why there is no tree of it; where it stops being JSON the emulator says. */
function whyNot(notification) {
  const problem = partProblem(notification) || (notification.payloadBase64 ? null : 'The payload is empty.');
  const why = h('p', { class: 'bad' }, problem || 'The payload is not JSON.');
  if (!problem) explained(draftOf(notification)).then(answer => { why.textContent = notJSON(answer) || why.textContent; }, () => { /* It is said without the place. */ });
  return why;
}

function treeNode(name, value) {
  const label = name === null ? [] : [h('span', { class: 'k' }, name), ': '];
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value);
    const isList = Array.isArray(value);
    const about = isList ? `[${entries.length}]` : `{${entries.length}}`;
    return h('details', { open: true }, h('summary', {}, label, h('span', { class: 'faint' }, about)),
      entries.map(([key, child]) => treeNode(key, child)));
  }
  const kind = typeof value === 'string' ? 'str' : typeof value === 'number' ? 'num' : 'faint';
  return h('div', {}, label, h('span', { class: kind }, JSON.stringify(value)));
}
