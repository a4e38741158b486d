/* Devices: what is connected, what they want, what waits for them. */
import { noteAddress } from './address.js';
import { api, path } from './api.js';
import { appActions, subjectOf } from './apps.js';
import { commandBlock, deviceCommand } from './commands.js';
import { $, button, cells, empty, h, show, table } from './dom.js';
import { dateTime } from './format.js';
import { loadDevices } from './loading.js';
import { onlineDot, tokenText } from './marks.js';
import { moreRow } from './more.js';
import { attempt, confirmed, failed, problemAt } from './notices.js';
import { on, store } from './store.js';
import { installForm } from './tokens.js';

export const deviceView = { area: null, text: '', most: 100, step: 100 };

const devicesAreShown = () => deviceView.area?.isConnected;
store.wantsDevices = devicesAreShown;

/* Shows what the address says; what is there stays. */
export function devicesPane(main, _, { q = '' }) {
  deviceView.text = q.trim().toLowerCase();
  noteAddress('devices', null, { q: deviceView.text });
  if (devicesAreShown()) {
    if ($('search').value.trim().toLowerCase() !== deviceView.text) $('search').value = deviceView.text;
    drawDevices();
  } else build(main);
}

function find(event) {
  const isBegun = deviceView.text === '';
  deviceView.text = event.target.value.trim().toLowerCase();
  drawDevices();
  noteAddress('devices', null, { q: deviceView.text }, {}, isBegun && deviceView.text !== '');
}

function build(main) {
  deviceView.area = h('div', { class: 'pane' });
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Devices'),
    h('input', { type: 'search', id: 'search', placeholder: 'UDID or topic', 'aria-label': 'Search devices', value: deviceView.text, oninput: find })), deviceView.area);
  /* What was an empty list may have changed since. */
  if (store.devices && !store.devices.length) store.devices = null;
  drawDevices();
  const load = () => loadDevices().catch(error => { if (devicesAreShown()) show(deviceView.area, failed('The devices could not be loaded', error, load)); });
  load();
}

export function drawDevices() {
  if (!devicesAreShown()) return;
  if (!store.devices) return show(deviceView.area, h('p', { class: 'faint' }, 'Loading…'));
  const found = store.devices.filter(device => `${device.udid} ${device.topics.map(app => app.topic).join(' ')}`.toLowerCase().includes(deviceView.text));
  const more = moreRow(deviceView, found.length, { loaded: store.devices.length, next: store.nextDevice, all: store.info?.counters.devices, load: loadDevices }, drawDevices);
  show(deviceView.area, store.devices.length
    ? [found.length ? found.slice(0, deviceView.most).map(deviceCard) : empty('No device matches', 'Search for a part of the UDID or of a topic.'), more]
    : empty('No device yet', 'Start a simulated phone with this command, or install an app with the form below, which creates the device:',
      commandBlock(deviceCommand())), installForm());
  return undefined;
}

function deviceCard(device) {
  const place = `device ${device.udid}`;
  const act = (action, done) => attempt(place, async () => { await api('POST', path('devices', device.udid, action)); await loadDevices(); }, done);
  return h('section', { class: 'card', 'aria-label': `Device ${device.udid}` },
    h('div', { class: 'row' }, h('h2', {}, device.udid), onlineDot(device.online),
      h('span', { class: 'faint small' }, device.connections.map(each => `${each.environment} since ${dateTime(each.connectedAt)}`).join(', ') || `last seen ${dateTime(device.lastSeenAt)}`),
      h('span', { class: 'space' }),
      h('a', { class: 'button', href: `#phone/${device.udid}` }, 'Phone'),
      button('Take offline', () => act('disconnect', 'Disconnected; a real client reconnects by itself'), { disabled: !device.online }),
      button('Restore', () => confirmed(`Restore ${device.udid} onto another phone? Its apps stay, and all its tokens change.`, 'Restore', () => act('restore', 'Restored')), { class: 'danger' }),
      button('Erase', () => confirmed(`Erase ${device.udid}? All its apps are removed, and all its tokens end.`, 'Erase', () => act('erase', 'Erased')), { class: 'danger' })), problemAt(place),
    device.topics.length ? table(['Topic', 'Environment', 'Token', 'Install', 'State', 'Receives now', 'Actions'], device.topics.map(app => appRow(device, app)))
      : h('p', { class: 'faint' }, 'No app has registered for pushes.'),
    device.keptMessages.length ? [h('h3', {}, 'Stored notifications'), table(['Notification', 'Topic', 'Received', 'Expires', 'Payload'], device.keptMessages.map(keptRow))] : null);
}

function appRow(device, app) {
  const row = { ...app, udid: device.udid };
  const state = app.state === 'gone' ? 'gone' : app.installed ? 'installed' : 'removed, not yet reported';
  return h('tr', {}, cells(subjectOf(app), app.environment, h('a', { href: `#tokens/${app.token}` }, tokenText(app.token)), String(app.install), state,
    app.enabled ? h('span', { class: 'good' }, 'yes') : h('span', { class: 'faint' }, 'no')), h('td', {}, h('div', { class: 'row' }, appActions(row, device.topics.filter(each => each.topic === app.topic && each.context === app.context && each.environment === app.environment), () => loadDevices()))));
}

function keptRow(message) {
  return h('tr', {}, cells(store.notifications.has(message.id) ? h('a', { href: `#notifications/${message.id}` }, `#${message.id}`) : `#${message.id}`,
    message.topic, dateTime(message.receivedAt), dateTime(message.expiresAt), h('code', { class: 'break' }, message.payload === null ? message.payloadBase64 : JSON.stringify(message.payload).slice(0, 160))));
}

on('devices', drawDevices);
