/* Panes and their addresses. */
import { lastAddress, readAddress } from './address.js';
import { advicePane } from './advice.js';
import { clockPane } from './clock.js';
import { clusterPane, isNode } from './cluster.js';
import { devicesPane } from './devices.js';
import { $, button, h, isNarrow, redraw, show } from './dom.js';
import { explainPane } from './explain.js';
import { faultsPane } from './faults.js';
import { compact } from './format.js';
import { notificationsPane } from './list.js';
import { forgetProblems, notice } from './notices.js';
import { channelsPane, connectionsPane, feedbackPane } from './panes.js';
import { phonePane } from './phone.js';
import { presentPane } from './present.js';
import { sendPane } from './send.js';
import { store } from './store.js';
import { tokensPane } from './tokens.js';

export const panesByName = {
  notifications: ['Notifications', notificationsPane, () => store.notifications.size],
  tokens: ['Tokens', tokensPane, () => store.nextToken && store.info ? store.info.counters.tokens : store.tokens.length], devices: ['Devices', devicesPane, () => store.info?.counters.devices],
  send: ['Send a push', sendPane], explain: ['Explain', explainPane], advice: ['Advice', advicePane, () => store.advice?.findings.length], feedback: ['Feedback', feedbackPane], channels: ['Channels', channelsPane],
  connections: ['Connections', connectionsPane], faults: ['Faults', faultsPane], clock: ['Clock', clockPane],
  cluster: ['Cluster', clusterPane],
  /* Reached from a token, and from a device. */
  present: ['Presenter view', presentPane], phone: ['Phone', phonePane],
};

/* Those that are part of another, which is the one that is marked. */
const partOf = { present: 'tokens', phone: 'devices' };

export function drawNav() {
  const current = place()?.pane || 'notifications';
  redraw($('nav'), () => show($('nav'), Object.entries(panesByName).filter(([name]) => !(name in partOf) && (name !== 'cluster' || isNode())).map(([name, [title, , count]]) =>
    h('a', { href: lastAddress(name), 'data-key': name, 'aria-current': name === (partOf[current] || current) ? 'page' : null }, title, count?.() ? h('span', { class: 'count', title: count().toLocaleString('en') }, compact(count())) : null))));
}

/* What the address says; null if there is no such place. */
function place() {
  const found = readAddress(location.hash);
  const isPlace = found && Object.hasOwn(panesByName, found.pane) && !(['notifications', 'explain'].includes(found.pane) && found.argument && !/^[0-9]{1,15}$/.test(found.argument));
  return isPlace ? found : null;
}

let shown = null;

export function route() {
  const found = place();
  if (!found) notice('address', h('span', {}, `There is nothing at ${location.hash.slice(0, 80)}. The list of notifications is shown instead.`), button('Dismiss', () => notice('address')));
  else notice('address');
  const { pane: name, argument, words } = found || { pane: 'notifications', words: {} };
  const pane = panesByName[name];
  if (name !== shown) forgetProblems();
  shown = name;
  drawNav();
  const current = $('nav').querySelector('[aria-current]');
  if (current && isNarrow()) current.scrollIntoView({ block: 'nearest', inline: 'center' });
  document.body.classList.toggle('presenting', name === 'present');
  document.title = `${pane[0]} · apns-emulator`;
  pane[1]($('main'), argument, words);
}
