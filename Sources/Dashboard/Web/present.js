/* One app on one phone for a room full of people: the whole token in large type, that of the install before beside it. */
import { api, path } from './api.js';
import { appActions, installsOf, standing, stateOf, subjectOf } from './apps.js';
import { button, empty, h, show } from './dom.js';
import { copy, failed } from './notices.js';
import { on, soon, store } from './store.js';

const presentation = { area: null, token: null };

export function presentPane(main, argument) {
  const active = store.tokens.filter(row => row.state === 'active');
  presentation.token = argument || (active.length ? active[active.length - 1].token : null);
  presentation.area = h('div', { class: 'present' });
  show(main, presentation.area);
  drawPresentation();
}

/* Both installs that are compared: the newest, and the one that was asked for or else the one before. */
export function pairOf(group, token) {
  const newest = group[group.length - 1];
  const chosen = group.find(row => row.token === token);
  return { newest, before: chosen && chosen !== newest ? chosen : group[group.length - 2] };
}

async function drawPresentation() {
  const { area, token } = presentation;
  if (!area || !area.isConnected) return;
  if (!token) return show(area, closeRow(), empty('No token yet', 'Install an app under Tokens. Its token appears here.'));
  try {
    const group = await installsOf(await api('GET', path('tokens', token)));
    if (presentation.token === token) show(area, slide(pairOf(group, token), group));
  } catch (error) {
    if (presentation.token === token) show(area, closeRow(), failed('Unknown token', error, drawPresentation));
  }
  return undefined;
}

const closeRow = () => h('div', { class: 'row' }, h('span', { class: 'space' }), h('a', { class: 'button', href: '#tokens' }, 'Tokens'));

function slide({ newest, before }, group) {
  const follow = row => { location.hash = `#present/${row.token}`; };
  const environment = `${newest.environment}, ${newest.online ? 'online' : 'offline'}`;
  return [
    h('div', { class: 'row' }, h('h2', {}, subjectOf(newest), h('span', { class: 'faint' }, ' on '), newest.udid, h('span', { class: 'faint' }, `, ${environment}`)),
      h('span', { class: 'space' }), appActions(newest, group, follow), h('a', { class: 'button', href: `#tokens/${newest.token}` }, 'Close')),
    h('div', { class: `slides ${before ? 'two' : ''}` }, before ? tokenSlide('Before', before, 'old') : null, tokenSlide(before ? 'Now' : 'Device token', newest, 'new')),
    h('div', { class: 'inputs', role: 'group', 'aria-label': 'Inputs of the token' },
      input('UDID', newest.udid), input('bundle id', newest.topic), newest.context ? input('context', newest.context) : null, input('environment', newest.environment),
      input('install number', before ? `${before.install} → ${newest.install}` : String(newest.install), before ? 'changed' : '')),
    h('p', { class: 'moral' }, before ? moral(before, newest) : 'Providers know only these 64 digits. Reinstall the app to see its next token beside this one.'),
  ];
}

const input = (name, value, kind) => h('div', { class: `input ${kind || ''}` }, h('span', { class: 'faint' }, name), h('strong', {}, value),
  kind === 'changed' ? h('span', { class: 'warn' }, 'changed') : h('span', { class: 'faint' }, 'same'));

function tokenSlide(title, row, kind) {
  return h('section', { class: `slide ${kind}`, 'aria-label': `${title}, install ${row.install}` },
    h('div', { class: 'row' }, h('h3', {}, title), h('span', { class: 'faint' }, `install ${row.install}`), h('span', { class: `badge ${standing(row)}` }, stateOf(row)),
      h('span', { class: 'space' }), button('Copy', () => copy(row.token, 'Token'), { 'aria-label': `Copy the token of install ${row.install}` })),
    h('code', { class: 'digits' }, row.token.match(/.{1,8}/g).map(group => h('span', {}, group))));
}

export function moral(before, newest) {
  const differing = Array.from(newest.token).filter((digit, index) => digit !== before.token[index]).length;
  return `Same phone, same app. Only the install number changed, and with it ${differing} of 64 digits of the token. A provider that has the old token needs the new one from the app.`;
}

on('tokens', () => { if (presentation.area?.isConnected) soon('present', drawPresentation); });
