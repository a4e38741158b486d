/* Panes and their addresses. */
import { clockPane } from './clock.js';
import { clusterPane, isNode } from './cluster.js';
import { devicesPane } from './devices.js';
import { $, button, h, isNarrow, show } from './dom.js';
import { explainPane } from './explain.js';
import { faultsPane } from './faults.js';
import { compact } from './format.js';
import { notificationsPane } from './list.js';
import { notice } from './notices.js';
import { channelsPane, connectionsPane, feedbackPane } from './panes.js';
import { phonePane } from './phone.js';
import { presentPane } from './present.js';
import { sendPane } from './send.js';
import { store } from './store.js';
import { tokensPane } from './tokens.js';

export const panesByName = {
  notifications: ['Notifications', notificationsPane, () => store.notifications.size],
  tokens: ['Token map', tokensPane, () => store.nextToken && store.info ? store.info.counters.tokens : store.tokens.length], devices: ['Devices', devicesPane, () => store.info?.counters.devices],
  send: ['Send a push', sendPane], explain: ['Explain', explainPane], feedback: ['Feedback', feedbackPane], channels: ['Channels', channelsPane],
  connections: ['Connections', connectionsPane], faults: ['Faults', faultsPane], clock: ['Clock', clockPane],
  cluster: ['Cluster', clusterPane],
  /* Reached from a token, and from a device. */
  present: ['Presenter view', presentPane], phone: ['Phone', phonePane],
};

/* Those that are part of another, which is the one that is marked. */
const partOf = { present: 'tokens', phone: 'devices' };

export function drawNav() {
  const [current] = place() || ['notifications'];
  show($('nav'), Object.entries(panesByName).filter(([name]) => !(name in partOf) && (name !== 'cluster' || isNode())).map(([name, [title, , count]]) =>
    h('a', { href: `#${name}`, 'aria-current': name === (partOf[current] || current) ? 'page' : null }, title, count?.() ? h('span', { class: 'count', title: count().toLocaleString('en') }, compact(count())) : null)));
}

/* Pane and argument of the address; null if there is no such place. */
function place() {
  if (location.hash.length < 2) return ['notifications'];
  let parts;
  try { parts = location.hash.slice(1).split('/').map(decodeURIComponent); } catch { return null; }
  const [name, argument] = parts;
  const isPlace = Object.hasOwn(panesByName, name) && parts.length < 3 && !(['notifications', 'explain'].includes(name) && argument && !/^[0-9]{1,15}$/.test(argument));
  return isPlace ? parts : null;
}

export function route() {
  const parts = place();
  if (!parts) notice('address', h('span', {}, `There is nothing at ${location.hash.slice(0, 80)}, so this is the list of notifications.`), button('Dismiss', () => notice('address')));
  else notice('address');
  const [name, argument] = parts || ['notifications'];
  const pane = panesByName[name];
  drawNav();
  const current = $('nav').querySelector('[aria-current]');
  if (current && isNarrow()) current.scrollIntoView({ block: 'nearest', inline: 'center' });
  document.body.classList.toggle('presenting', name === 'present');
  document.title = `${pane[0]} · apns-emulator`;
  pane[1]($('main'), argument);
}
