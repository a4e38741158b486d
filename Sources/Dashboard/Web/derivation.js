/* How a token comes to be. */
import { stateOf, subjectOf } from './apps.js';
import { cells, h, table } from './dom.js';
import { dateTime } from './format.js';
import { tokenText } from './marks.js';

const fieldMeaning = {
  label: text => ['label', `“${text}”: keeps device tokens apart from other values of the same secret`], environment: (_, row) => ['environment', row.environment],
  install: (_, row) => ['install number', `${row.install}: grows by one with each install of the app on this device`],
  topicHash: (_, row) => ['bundle id', `SHA-1 of the topic “${row.topic}”`], context: (_, row) => ['context', `“${row.context}”, after its length: which pushes of the topic the token is for`], udid: (_, row) => ['UDID', `the device: “${row.udid}”`],
};

/* The whole in one line, in the words that people come with: these four go in, the token comes out. */
function equation(row, colour, before) {
  const part = (field, name, value) => h('span', { class: `field ${colour(field)} ${before && field === 'install' ? 'marked' : ''}` }, h('small', {}, name), h('strong', {}, value));
  const sign = text => h('span', { class: 'faint' }, text);
  const context = row.context ? [sign('+'), part('context', 'context', row.context)] : [];
  return h('div', { class: 'equation', role: 'group', 'aria-label': 'Inputs of the token' }, part('udid', 'UDID', row.udid), sign('+'), part('topicHash', 'bundle id', row.topic), context, sign('+'),
    part('environment', 'environment', row.environment), sign('+'), part('install', 'install number', String(row.install)),
    h('span', { class: 'out' }, sign('→'), h('span', { class: 'field result' }, h('small', {}, 'device token'), h('code', {}, row.token))));
}

const changes = [['Update the app', 'The token stays the same.'], ['Reinstall the app', 'The install number grows, so the token changes. The old token ends like that of a removed app.'],
  ['Erase the phone', 'All apps are removed. An app that is installed again has a higher install number and a new token.'],
  ['Remove the app', 'The phone reports it at the next push. From then on the token is gone: 410 over HTTP/2, and an entry in the feedback service.'],
  ['Use another phone, app or environment', 'The token is different. One token says nothing about another.']];

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
    before ? h('p', { class: 'small' }, 'Only the marked field differs from the install before, which had this token: ', tokenText(before.token), ` (${stateOf(before)}).`) : null,
    after ? h('p', { class: 'small warn' }, 'The app was installed again. Its newest token: ', h('a', { href: `#tokens/${after.token}` }, tokenText(after.token)), `, install ${after.install}.`) : null,
    h('h3', {}, 'What changes the token'), h('dl', { class: 'changes small' }, changes.map(([what, effect]) => [h('dt', {}, what), h('dd', {}, effect)])),
    h('h3', {}, 'How the token is made, byte by byte'),
    h('ol', { class: 'derive' },
      h('li', {}, h('p', {}, 'The inputs as bytes'), h('div', { class: 'parts' }, fields)),
      h('li', {}, h('p', {}, 'The message: these bytes, one after the other'), h('div', { class: 'field message' }, h('code', { class: 'break' },
        row.derivation.message.map(({ field, hex }) => h('span', { class: colour(field) }, hex))))),
      h('li', {}, h('p', {}, `The device token: ${row.derivation.function} of the message with ${row.derivation.key}`),
        h('div', { class: 'field result' }, h('code', { class: 'break' }, row.token)),
        row.derivation.isOurs ? null : h('p', { class: 'warn small' }, 'This token was imported. It is a custom device token, or was made with another emulator’s secret: the function gives another result here.'))),
    installs.length > 1 ? table(['Install', 'Token', 'Issued', 'State'], installs.map(other => h('tr', {},
      cells(String(other.install), tokenText(other.token), dateTime(other.issuedAt), stateOf(other))))) : null);
}
