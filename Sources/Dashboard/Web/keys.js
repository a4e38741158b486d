/* The keyboard. */
import { lastAddress } from './address.js';
import { api, path } from './api.js';
import { isNode } from './cluster.js';
import { $, cells, h, table } from './dom.js';
import { listKey, select, view } from './list.js';
import { attempt, dialog } from './notices.js';
import { replay } from './replay.js';
import { tokenView } from './tokens.js';

const keys = [['/', 'Search'], ['j, k or arrows', 'Select the next or previous notification'], ['Enter', 'Move to the detail'], ['Esc', 'Go back'], ['g then n, t, d, s, e, a', 'Go to notifications, tokens, devices, send, explain, advice'],
  ['g then f, b, c, o, k', 'Go to faults, feedback, channels, connections, clock'], ['g then u', 'Go to the cluster, on one of its nodes'], ['r', 'Replay the selected notification'], ['p', 'Present the selected token'], ['e, Del, l, h, c', 'On a phone: expand, clear, lock, home, list'], ['?', 'Show this help']];

export function helpDialog() {
  dialog('Keyboard shortcuts', table(['Key', 'Action'], keys.map(([key, what]) => h('tr', {}, cells(h('kbd', {}, key), what)))));
}

/* Behind g: every pane of the navigation. */
const places = {
  n: 'notifications', t: 'tokens', d: 'devices', s: 'send', e: 'explain', a: 'advice', f: 'faults', b: 'feedback', c: 'channels', o: 'connections', k: 'clock', u: 'cluster',
};
let pendingGo = false;

export function key(event) {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const isTyping = event.target.closest('input, textarea, select, dialog');
  if (event.key === 'Escape' && !event.target.closest('dialog')) {
    if (isTyping) event.target.blur();
    else if (document.body.classList.contains('presenting')) location.hash = '#tokens';
    else if (view.element?.isConnected) { select(null, true); view.element.focus(); }
    return;
  }
  if (isTyping) return;
  if (pendingGo) {
    pendingGo = false;
    const name = places[event.key];
    if (name && (name !== 'cluster' || isNode())) { location.hash = lastAddress(name); return; }
  }
  const inList = view.element?.isConnected;
  if (event.key === 'g') pendingGo = true;
  else if (event.key === '?') helpDialog();
  else if (event.key === 'p' && tokenView.selected && tokenView.area && tokenView.area.isConnected) location.hash = `#present/${tokenView.selected}`;
  else if (event.key === '/' && $('search')) { event.preventDefault(); $('search').focus(); }
  else if (event.key === 'r' && inList && view.selected !== null) attempt('replay', async () => replay(await api('GET', path('notifications', String(view.selected)))));
  /* Enter presses what has the focus; letters press nothing. */
  else if (inList && event.target !== view.element && (['j', 'k'].includes(event.key) || event.key === 'Enter' && !event.target.closest('button, a, [role=tabpanel]'))) listKey(event);
}
