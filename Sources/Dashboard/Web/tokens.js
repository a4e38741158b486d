/* The token map. */
import { addressOf, noteAddress } from './address.js';
import { api, path } from './api.js';
import { appActions, installsOf, standing, stateOf, subjectOf } from './apps.js';
import { commandBlock, deviceCommand } from './commands.js';
import { derivation } from './derivation.js';
import { $, button, cells, empty, h, show, table } from './dom.js';
import { loadTokens } from './loading.js';
import { onlineDot, tokenText } from './marks.js';
import { moreRow } from './more.js';
import { attempt, confirmed, copy, failed, problemAt } from './notices.js';
import { on, store } from './store.js';

export const tokenView = { most: 300, step: 300, text: '', selected: null, area: null, table: null, detail: null };

/* The address of what is shown. */
const note = isStep => noteAddress('tokens', tokenView.selected, { q: tokenView.text }, {}, isStep);

/* Another token is looked at, or none. */
function choose(token) {
  tokenView.selected = token;
  note(true);
  if (token) explain(token); else show(tokenView.detail);
  drawTokens();
}

function find(event) {
  const isBegun = tokenView.text === '';
  tokenView.text = event.target.value.trim().toLowerCase();
  drawTokens();
  note(isBegun && tokenView.text !== '');
}

/* Shows what the address says; what is there stays, so that the list does not move. */
export function tokensPane(main, argument, { q = '' }) {
  Object.assign(tokenView, { text: q.trim().toLowerCase(), selected: argument || null });
  if (!tokenView.area?.isConnected) build(main);
  if ($('search').value.trim().toLowerCase() !== tokenView.text) $('search').value = tokenView.text;
  note();
  drawTokens();
  if (tokenView.selected) explain(tokenView.selected); else show(tokenView.detail);
}

function build(main) {
  tokenView.area = h('div', {});
  tokenView.detail = h('div', {});
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Tokens'),
    h('input', { type: 'search', id: 'search', placeholder: 'UDID, topic or token', 'aria-label': 'Search tokens', oninput: find })),
  h('div', { class: 'pane' },
    h('p', { class: 'faint small' }, 'UDID + bundle id → device token. A device token belongs to one install of one app on one device in one environment. Providers know only the token. Choose a row to see how its token is made.'),
    tokenView.detail, tokenView.area));
}

export function drawTokens() {
  if (!tokenView.area || !tokenView.area.isConnected) return;
  const rows = store.tokens.filter(row => `${row.udid} ${row.topic} ${row.context || ''} ${row.token} ${row.environment}`.toLowerCase().includes(tokenView.text));
  const more = moreRow(tokenView, rows.length, { loaded: store.tokens.length, next: store.nextToken, all: store.info?.counters.tokens, load: loadTokens }, drawTokens);
  if (!rows.length) {
    show(tokenView.area, store.tokens.length ? empty('No token matches', 'Search for a part of the UDID, the topic or the token.')
      : empty('No token yet', 'A device token is made when an app registers on a device. Start a simulated phone with this command, or install an app with the form below:',
        commandBlock(deviceCommand()), installForm()), more);
    return;
  }
  show(tokenView.area, table(['Device', 'Topic', 'Environment', 'Install', 'Token', 'State', 'Actions'], rows.slice(0, tokenView.most).map(tokenRow)), more, installForm());
}

function tokenRow(row) {
  const open = () => choose(row.token);
  return h('tr', { class: `pick ${row.token === tokenView.selected ? 'chosen' : ''}`, onclick: open },
    cells([h('span', { class: 'break device' }, row.udid), ' ', onlineDot(row.online)], h('span', { class: 'break device', title: row.topic }, subjectOf(row)), row.environment, String(row.install)),
    h('td', {}, h('button', { type: 'button', class: 'plain', title: 'Show how it is made', onclick: event => { event.stopPropagation(); open(); } }, tokenText(row.token))),
    h('td', { class: standing(row) }, stateOf(row)),
    h('td', { onclick: event => event.stopPropagation() }, h('div', { class: 'row tight' }, button('Copy', () => copy(row.token, 'Token')), h('a', { class: 'button', href: `#present/${row.token}` }, 'Present'))));
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
  if (tokenView.selected === token) show(tokenView.detail, derivation(row, installs, explainActions(row, installs)));
}

function explainActions(row, installs) {
  const follow = then => { if (tokenView.selected === row.token) choose(then.token); else if (tokenView.selected) explain(tokenView.selected); };
  const erase = () => attempt(`erase ${row.udid}`, async () => { await api('POST', path('devices', row.udid, 'erase')); await loadTokens(); explain(row.token); }, 'Erased; install the app again for a new token');
  return [h('a', { class: 'button', href: `#present/${row.token}` }, 'Present'), appActions(row, installs, follow),
    row.installed ? button('Erase phone', () => confirmed(`Erase ${row.udid}? All its apps are removed, and all its tokens end.`, 'Erase', erase), { class: 'danger' }) : null, problemAt(`erase ${row.udid}`),
    button('Close', () => choose(null))];
}

export function installForm() {
  const udid = h('input', { 'aria-label': 'UDID', placeholder: 'UDID, for example my-phone', required: true, pattern: '[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}' });
  const topic = h('input', { 'aria-label': 'Topic', placeholder: 'com.example.app', required: true });
  return h('form', { class: 'bar', onsubmit: event => {
    event.preventDefault();
    attempt('install', async () => {
      const row = await api('POST', path('devices', udid.value, 'apps', topic.value, 'install'));
      await loadTokens();
      if (tokenView.area?.isConnected) choose(row.token); else location.hash = addressOf('tokens', row.token);
    }, 'Installed');
  } }, h('strong', {}, 'Install an app'), udid, topic, h('button', { class: 'primary' }, 'Install'), problemAt('install'));
}

on('tokens', () => { drawTokens(); if (tokenView.selected && tokenView.detail && tokenView.detail.isConnected) explain(tokenView.selected); });
