/* How a token comes to be. */
import { stateOf, subjectOf } from './apps.js';
import { cells, h, table } from './dom.js';
import { dateTime } from './format.js';
import { tokenText } from './marks.js';

const fieldMeaning = {
  label: text => ['label', `“${text}”: keeps device tokens apart from other secrets`], environment: (_, row) => ['environment', row.environment],
  install: (_, row) => ['install number', `${row.install}: one more each time the app is installed here`],
  topicHash: (_, row) => ['bundle id', `SHA-1 of the topic “${row.topic}”`], context: (_, row) => ['context', `what of the topic it is for, its length before it: “${row.context}”`], udid: (_, row) => ['UDID', `the device: “${row.udid}”`],
};

/* The whole in one line, in the words that people come with: these four go in, the token comes out. */
function equation(row, colour, before) {
  const part = (field, name, value) => h('span', { class: `field ${colour(field)} ${before && field === 'install' ? 'marked' : ''}` }, h('small', {}, name), h('strong', {}, value));
  const sign = text => h('span', { class: 'faint' }, text);
  const context = row.context ? [sign('+'), part('context', 'context', row.context)] : [];
  return h('div', { class: 'equation', role: 'group', 'aria-label': 'What makes the token' }, part('udid', 'UDID', row.udid), sign('+'), part('topicHash', 'bundle id', row.topic), context, sign('+'),
    part('environment', 'environment', row.environment), sign('+'), part('install', 'install number', String(row.install)),
    h('span', { class: 'out' }, sign('→'), h('span', { class: 'field result' }, h('small', {}, 'device token'), h('code', {}, row.token))));
}

const changes = [['Update the app', 'nothing changes: the same token'], ['Reinstall it', 'the install number goes up: another token; the old one dies as with a removed app'],
  ['Erase the phone', 'every app is gone; installed again, each has a higher install number: all tokens change'],
  ['Remove the app', 'the token dies when the phone reports it: at the next push, then 410 and feedback'],
  ['Other phone, app or environment', 'another token: nothing can be worked out from one about another']];

export function asciiOf(hex) {
  return hex.match(/../g).map(pair => parseInt(pair, 16)).filter(byte => byte > 31 && byte < 127).map(byte => String.fromCharCode(byte)).join('');
}

/* How the token of a row comes to be, beside those of the app's other installs. */
export function derivation(row, installs, actions) {
  const before = installs.find(other => other.install === row.install - 1);
  const after = installs.filter(other => other.install > row.install).pop();
  const colour = name => `f${row.derivation.message.findIndex(({ field }) => field === name) % 7 + 1}`;
  const fields = row.derivation.message.map(({ field, hex }) => {
    const [name, meaning] = (fieldMeaning[field] || (() => [field, '']))(asciiOf(hex), row);
    return h('div', { class: `field ${colour(field)} ${before && field === 'install' ? 'changed' : ''}` }, h('strong', {}, name), h('span', { class: 'small' }, meaning), h('code', { class: 'break' }, hex));
  });
  return h('section', { class: 'card', 'aria-label': 'Derivation' },
    h('div', { class: 'row' }, h('h2', {}, subjectOf(row), ` on ${row.udid}`), h('span', { class: 'space' }), actions),
    equation(row, colour, before),
    before ? h('p', { class: 'small' }, 'Compared with the install before, only the marked field differs, and the token is another: ', tokenText(before.token), ` (${stateOf(before)}).`) : null,
    after ? h('p', { class: 'small warn' }, 'Installed again since: ', h('a', { href: `#tokens/${after.token}` }, tokenText(after.token)), `, install ${after.install}.`) : null,
    h('h3', {}, 'What changes it'), h('dl', { class: 'changes small' }, changes.map(([what, effect]) => [h('dt', {}, what), h('dd', {}, effect)])),
    h('h3', {}, 'How it is made, byte by byte'),
    h('ol', { class: 'derive' },
      h('li', {}, h('p', {}, 'Each of them as bytes'), h('div', { class: 'parts' }, fields)),
      h('li', {}, h('p', {}, 'One after the other they are the message'), h('div', { class: 'field message' }, h('code', { class: 'break' },
        row.derivation.message.map(({ field, hex }) => h('span', { class: colour(field) }, hex))))),
      h('li', {}, h('p', {}, `${row.derivation.function} of it, under ${row.derivation.key}, is the device token`),
        h('div', { class: 'field result' }, h('code', { class: 'break' }, row.token)),
        row.derivation.isOurs ? null : h('p', { class: 'warn small' }, 'This one is not what the function gives here: it was imported, and comes from another emulator’s secret.'))),
    installs.length > 1 ? table(['Install', 'Token', 'Issued', 'State'], installs.map(other => h('tr', {},
      cells(String(other.install), tokenText(other.token), dateTime(other.issuedAt), stateOf(other))))) : null);
}
