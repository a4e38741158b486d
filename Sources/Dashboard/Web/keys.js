/* The keyboard. */
import { lastAddress } from './address.js';
import { api, path } from './api.js';
import { isNode } from './cluster.js';
import { $, cells, h, table } from './dom.js';
import { listKey, select, view } from './list.js';
import { attempt, dialog } from './notices.js';
import { replay } from './replay.js';
import { tokenView } from './tokens.js';

const keys = [['/', 'search'], ['j, k or arrows', 'next, previous'], ['Enter', 'into the detail'], ['Esc', 'back'], ['g then n, t, d, s, e', 'notifications, tokens, devices, send, explain'], ['g then f, b, c, o, k', 'faults, feedback, channels, connections, clock; u in a cluster: its nodes'], ['r', 'replay the selected one'], ['p', 'presenter view of the selected token'], ['e, Del, l, h, c', 'on a phone: expand, clear, lock, home, list'], ['?', 'this help']];

export function helpDialog() {
  dialog('Keyboard', table(['Key', 'Does'], keys.map(([key, what]) => h('tr', {}, cells(h('kbd', {}, key), what)))));
}

/* Behind g: every pane of the navigation. */
const places = {
  n: 'notifications', t: 'tokens', d: 'devices', s: 'send', e: 'explain', f: 'faults', b: 'feedback', c: 'channels', o: 'connections', k: 'clock', u: 'cluster',
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
