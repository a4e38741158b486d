/* What happened on a phone, and what did not, each with the rule that says so and how that is known. */
import { h } from './dom.js';
import { sentence } from './format.js';

const letters = { A: 'Apple’s documentation', M: 'measured and published by app developers', O: 'the emulator’s own choice, because it is not documented' };

/* Something that a person may have waited for in vain. */
export const isInVain = ({ event, detail }) => /^(not|no)-/.test(event) || ['dropped', 'held', 'merged'].includes(event) || (event === 'extension' && detail.startsWith('skipped'));

export const isCallback = ({ event }) => ['callback', 'no-callback', 'extension', 'launched', 'woken', 'opened', 'terminated', 'exception'].includes(event);

export const eventName = ({ event }) => sentence(event.replaceAll('-', ' '));

export function evidence(text) {
  return text.split(', ').filter(letter => letter in letters).map(letter => h('abbr', { class: 'evidence', title: letters[letter] }, letter));
}

/* One row; `more` stands behind the name. */
export function happening(event, ...more) {
  const kind = isInVain(event) ? 'vain' : event.event === 'exception' ? 'bad' : event.event === 'callback' ? 'call' : '';
  return h('li', { class: `happening ${kind}` },
    h('div', { class: 'row' }, h('strong', {}, eventName(event)), event.detail ? h('code', { class: 'break' }, event.detail) : null, more),
    h('div', { class: 'small why' }, isInVain(event) ? h('span', { class: 'badge warn' }, 'why not') : null, h('span', {}, sentence(event.reason)), ' ',
      event.rule ? h('code', { class: 'rule' }, event.rule) : null, ' ', evidence(event.evidence)));
}

export const legend = () => h('p', { class: 'faint small' }, Object.entries(letters).map(([letter, words], index) => [index ? ' · ' : '', h('abbr', { class: 'evidence', title: words }, letter), ` ${words}`]));
