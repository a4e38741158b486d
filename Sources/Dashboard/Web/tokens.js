/* The token map, and how a token comes to be. */
const tokenView = { most: 300, step: 300, text: '', selected: null, area: null, table: null, detail: null };

function tokensPane(main, argument) {
  tokenView.area = h('div', {});
  tokenView.detail = h('div', {});
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Token map'),
    h('input', { type: 'search', id: 'search', placeholder: 'UDID, topic or token', 'aria-label': 'Search tokens', value: tokenView.text,
      oninput: event => { tokenView.text = event.target.value.trim().toLowerCase(); drawTokens(); } })),
  h('div', { class: 'pane' },
    h('p', { class: 'faint small' }, 'UDID + bundle id → token. A token belongs to one app on one device in one environment, for one install; providers know only the token. Choose a row to see how it is made.'),
    tokenView.detail, tokenView.area));
  if (argument) tokenView.selected = argument;
  drawTokens();
  if (tokenView.selected) explain(tokenView.selected);
}

function drawTokens() {
  if (!tokenView.area || !tokenView.area.isConnected) return;
  const rows = store.tokens.filter(row => `${row.udid} ${row.topic} ${row.token} ${row.environment}`.toLowerCase().includes(tokenView.text));
  const more = moreRow(tokenView, rows.length, { loaded: store.tokens.length, next: store.nextToken, all: store.info && store.info.counters.tokens, load: loadTokens }, drawTokens);
  if (!rows.length) {
    show(tokenView.area, store.tokens.length ? empty('Nothing matches', 'Try a part of the UDID, the topic or the token.')
      : empty('No token yet', 'A token is made when an app registers on a device. Start a simulated phone, or install an app on one:',
        commandBlock(deviceCommand()), installForm()), more);
    return;
  }
  show(tokenView.area, table(['Device', 'Topic', 'Environment', 'Install', 'Token', 'State', 'Actions'], rows.slice(0, tokenView.most).map(tokenRow)), more, installForm());
}

const stateOf = row => row.state === 'gone' ? `gone since ${dateTime(row.goneAt)}` : row.installed ? 'active' : 'app removed, not yet reported';
const standing = row => row.state === 'gone' ? 'bad' : row.installed ? 'good' : 'warn';

function tokenRow(row) {
  const open = () => { tokenView.selected = row.token; explain(row.token); drawTokens(); };
  return h('tr', { class: `pick ${row.token === tokenView.selected ? 'chosen' : ''}`, onclick: open },
    cells([row.udid, ' ', onlineDot(row.online)], row.topic, row.environment, String(row.install)),
    h('td', {}, h('button', { type: 'button', class: 'plain', title: 'How it is made', onclick: event => { event.stopPropagation(); open(); } }, tokenText(row.token))),
    h('td', { class: standing(row) }, stateOf(row)),
    h('td', { onclick: event => event.stopPropagation() }, h('div', { class: 'row tight' }, button('Copy', () => copy(row.token, 'Token')), h('a', { class: 'button', href: `#present/${row.token}` }, 'Present'))));
}

/* All installs of an app on a device, oldest first. */
async function installsOf({ udid, topic, environment }) {
  const words = new URLSearchParams({ udid, topic, environment });
  return (await api('GET', `/api/v1/tokens?${words}`)).tokens.sort((a, b) => a.install - b.install);
}

const fieldMeaning = {
  label: text => ['label', `“${text}”: keeps device tokens apart from other secrets`], environment: (_, row) => ['environment', row.environment],
  install: (_, row) => ['install number', `${row.install}: one more each time the app is installed here`],
  topicHash: (_, row) => ['bundle id', `SHA-1 of the topic “${row.topic}”`], udid: (_, row) => ['UDID', `the device: “${row.udid}”`],
};

/* The whole in one line, in the words that people come with: these four go in, the token comes out. */
function equation(row, colour, before) {
  const part = (field, name, value) => h('span', { class: `field ${colour(field)} ${before && field === 'install' ? 'marked' : ''}` }, h('small', {}, name), h('strong', {}, value));
  const sign = text => h('span', { class: 'faint' }, text);
  return h('div', { class: 'equation', role: 'group', 'aria-label': 'What makes the token' }, part('udid', 'UDID', row.udid), sign('+'), part('topicHash', 'bundle id', row.topic), sign('+'),
    part('environment', 'environment', row.environment), sign('+'), part('install', 'install number', String(row.install)),
    h('span', { class: 'out' }, sign('→'), h('span', { class: 'field result' }, h('small', {}, 'device token'), h('code', {}, row.token))));
}

const changes = [['Update the app', 'nothing changes: the same token'], ['Reinstall it', 'the install number goes up: another token; the old one dies as with a removed app'],
  ['Erase the phone', 'every app is gone; installed again, each has a higher install number: all tokens change'],
  ['Remove the app', 'the token dies when the phone reports it: at the next push, then 410 and feedback'],
  ['Other phone, app or environment', 'another token: nothing can be worked out from one about another']];

function asciiOf(hex) {
  return hex.match(/../g).map(pair => parseInt(pair, 16)).filter(byte => byte > 31 && byte < 127).map(byte => String.fromCharCode(byte)).join('');
}

async function explain(token) {
  let row, installs;
  try {
    row = await api('GET', path('tokens', token));
    installs = await installsOf(row);
  } catch (error) {
    if (tokenView.selected === token) show(tokenView.detail, failed('Unknown token', error, () => explain(token)));
    return;
  }
  if (tokenView.selected !== token) return;
  const before = installs.find(other => other.install === row.install - 1);
  const after = installs.filter(other => other.install > row.install).pop();
  const follow = then => { if (tokenView.selected === token) tokenView.selected = then.token; if (tokenView.selected) explain(tokenView.selected); };
  const colour = name => `f${row.derivation.message.findIndex(({ field }) => field === name) % 7 + 1}`;
  const fields = row.derivation.message.map(({ field, hex }) => {
    const [name, meaning] = (fieldMeaning[field] || (() => [field, '']))(asciiOf(hex), row);
    return h('div', { class: `field ${colour(field)} ${before && field === 'install' ? 'changed' : ''}` }, h('strong', {}, name), h('span', { class: 'small' }, meaning), h('code', { class: 'break' }, hex));
  });
  show(tokenView.detail, h('section', { class: 'card', 'aria-label': 'Derivation' },
    h('div', { class: 'row' }, h('h2', {}, `${row.topic} on ${row.udid}`), h('span', { class: 'space' }), h('a', { class: 'button', href: `#present/${row.token}` }, 'Present'), appActions(row, installs, follow),
      row.installed ? button('Erase phone', () => confirmed(`Erase ${row.udid}? Every app is gone, and all its tokens.`, 'Erase', () => attempt(async () => {
        await api('POST', path('devices', row.udid, 'erase')); await loadTokens(); explain(row.token); }, 'Erased: install the app again for another token')), { class: 'danger' }) : null,
      button('Close', () => { tokenView.selected = null; show(tokenView.detail); drawTokens(); })),
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
      cells(String(other.install), tokenText(other.token), dateTime(other.issuedAt), stateOf(other))))) : null));
}

function appPath(row, action) { return path('devices', row.udid, 'apps', row.topic, action) + `?environment=${row.environment}`; }

/* What a person can do to the app, if this is its newest install; `then` gets the row of the token that it has afterwards. */
function appActions(row, installs, then) {
  const act = (action, done) => () => attempt(async () => {
    const after = await api('POST', appPath(row, action));
    await loadTokens();
    if (then) then(after);
  }, done);
  if (installs.some(other => other.install > row.install)) return null;
  if (!row.installed) return button('Install again', act('install', 'Installed: another token'));
  return [button('Update', act('update', 'Updated: the token stays')), button('Reinstall', act('reinstall', 'Reinstalled: another token')),
    button('Remove', act('remove', 'Removed: providers hear of it at the next push'), { class: 'danger' })];
}

function installForm() {
  const udid = h('input', { 'aria-label': 'UDID', placeholder: 'UDID, for example my-phone', required: true, pattern: '[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}' });
  const topic = h('input', { 'aria-label': 'Topic', placeholder: 'com.example.app', required: true });
  return h('form', { class: 'bar', onsubmit: event => {
    event.preventDefault();
    attempt(async () => {
      const row = await api('POST', path('devices', udid.value, 'apps', topic.value, 'install'));
      await loadTokens();
      tokenView.selected = row.token;
      location.hash = '#tokens';
      if (tokenView.detail && tokenView.detail.isConnected) explain(row.token);
    }, 'Installed');
  } }, h('strong', {}, 'Install an app'), udid, topic, h('button', { class: 'primary' }, 'Install'));
}

on('tokens', () => { drawTokens(); if (tokenView.selected && tokenView.detail && tokenView.detail.isConnected) explain(tokenView.selected); });
