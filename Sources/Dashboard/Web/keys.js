/* The keyboard. */
import { api, path } from './api.js';
import { $, cells, h, table } from './dom.js';
import { listKey, select, view } from './list.js';
import { attempt, dialog } from './notices.js';
import { replay } from './replay.js';
import { tokenView } from './tokens.js';

const keys = [['/', 'search'], ['j, k or arrows', 'next, previous'], ['Enter', 'into the detail'], ['Esc', 'back'], ['g then n, t, d, s', 'notifications, tokens, devices, send'], ['r', 'replay the selected one'], ['p', 'presenter view of the selected token'], ['e, Del, l, h, c', 'on a phone: expand, clear, lock, home, list'], ['?', 'this help']];

export function helpDialog() {
  dialog('Keyboard', table(['Key', 'Does'], keys.map(([key, what]) => h('tr', {}, cells(h('kbd', {}, key), what)))));
}

let pendingGo = false;

export function key(event) {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const isTyping = event.target.closest('input, textarea, select, dialog');
  if (event.key === 'Escape' && !event.target.closest('dialog')) {
    if (isTyping) event.target.blur();
    else if (document.body.classList.contains('presenting')) location.hash = '#tokens';
    else if (view.element?.isConnected) { select(null); view.element.focus(); }
    return;
  }
  if (isTyping) return;
  if (pendingGo) {
    pendingGo = false;
    const name = { n: 'notifications', t: 'tokens', d: 'devices', s: 'send' }[event.key];
    if (name) { location.hash = `#${name}`; return; }
  }
  const inList = view.element?.isConnected;
  if (event.key === 'g') pendingGo = true;
  else if (event.key === '?') helpDialog();
  else if (event.key === 'p' && tokenView.selected && tokenView.area && tokenView.area.isConnected) location.hash = `#present/${tokenView.selected}`;
  else if (event.key === '/' && $('search')) { event.preventDefault(); $('search').focus(); }
  else if (event.key === 'r' && inList && view.selected !== null) attempt(async () => replay(await api('GET', path('notifications', String(view.selected)))));
  else if (inList && event.target !== view.element && ['j', 'k', 'Enter'].includes(event.key) && !event.target.closest('button, a, [role=tabpanel]')) listKey(event);
}
