/* The list of notifications: only the rows in view exist, so that ten thousand scroll as ten. */
import { noteAddress } from './address.js';
import { api } from './api.js';
import { commandBlock, deviceCommand, pushCommand } from './commands.js';
import { firstTab, showDetail, tabNamed } from './detail.js';
import { $, button, empty, h, show } from './dom.js';
import { clockTime, headline, interfaceName, refusalOf, short, stateClass } from './format.js';
import { loadAll } from './loading.js';
import { stateBadge } from './marks.js';
import { attempt, confirmed, failed, problem, problemAt } from './notices.js';
import { newestFirst, on, soon, store } from './store.js';

const rowHeight = 62;
export const filters = { text: '', state: '', interface: '', verdict: '' };
export const view = { ids: [], first: null, selected: null, tab: firstTab, seen: null, element: null, canvas: null, count: null, split: null, detail: null };

/* Words that must all be there; in quotes, a phrase. */
export const searchWords = text => (text.toLowerCase().match(/"[^"]*"?|\S+/g) || []).map(word => word.replaceAll('"', ''));

export function wanted(notification) {
  return (!filters.state || notification.state === filters.state)
    && (!filters.interface || notification.interface === filters.interface)
    && (!filters.verdict || notification.verdict.accepted === (filters.verdict === 'accepted'))
    && searchWords(filters.text).every(word => notification.haystack.includes(word));
}

/* The address of what is shown. */
function note(isStep) {
  const { text, ...rest } = filters;
  noteAddress('notifications', view.selected === null ? null : String(view.selected), { q: text, ...rest }, { tab: view.selected === null || view.tab === firstTab ? '' : view.tab.toLowerCase() }, isStep);
}

export function refilter() {
  const before = view.first;
  const found = Array.from(store.notifications.values()).filter(wanted).sort(newestFirst);
  Object.assign(view, { ids: found.map(each => each.id), first: found[0] || null });
  if (!view.element) return;
  /* New rows come in at the top; who has scrolled down keeps what they look at. */
  const added = before ? found.findIndex(each => newestFirst(each, before) >= 0) : -1;
  if (view.element.scrollTop > rowHeight && added > 0) view.element.scrollTop += added * rowHeight;
  drawList();
}

export function drawList() {
  const { element, canvas, ids } = view;
  if (!element || !element.isConnected) return;
  const total = store.notifications.size;
  view.count.textContent = ids.length === total ? '' : `${ids.length} of ${total}`;
  canvas.style.height = `${ids.length * rowHeight}px`;
  const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - 5);
  const last = Math.min(ids.length, first + Math.ceil(element.clientHeight / rowHeight) + 10);
  const rows = [];
  for (let index = first; index < last; index += 1) {
    const notification = store.notifications.get(ids[index]);
    /* Gone since the list was filtered; it is about to be again. */
    if (notification) rows.push(listRow(notification, index));
  }
  show(canvas, ids.length ? rows : emptyList());
  /* A box without options has other content. */
  element.setAttribute('role', ids.length ? 'listbox' : 'region');
  if (view.selected && $(`n${view.selected}`)) element.setAttribute('aria-activedescendant', `n${view.selected}`);
  else element.removeAttribute('aria-activedescendant');
  if (view.first && !isSeen(view.first)) view.seen = view.first;
}

const isSeen = notification => view.seen !== null && newestFirst(notification, view.seen) >= 0;

function listRow(notification, index) {
  const isNew = view.seen && !isSeen(notification);
  const row = h('div', {
    class: `item ${isNew ? 'new' : ''}`, role: 'option', id: `n${notification.id}`,
    'aria-selected': String(notification.id === view.selected), 'aria-posinset': index + 1, 'aria-setsize': view.ids.length,
    onclick: () => select(notification.id, true),
  },
    h('span', { class: 'title' }, headline(notification)), notification.verdict.accepted ? stateBadge(notification.state) : h('span', { class: 'badge bad' }, refusalOf(notification)),
    h('span', { class: 'under small faint' }, `${notification.topic || 'no topic'} → ${notification.udid || (notification.channelId ? `channel ${notification.channelId}` : short(notification.token)) || 'no token'}`),
    h('span', { class: 'small faint when' }, `${interfaceName[notification.interface]}${notification.node ? ` at ${notification.node}` : ''} · ${clockTime(notification.receivedAt)}`));
  row.style.top = `${index * rowHeight}px`;
  return row;
}

function emptyList() {
  if (store.notifications.size) return empty('No notification matches', 'Search for fewer words, or clear the filters.');
  if (store.list instanceof Error) return failed('The notifications could not be loaded', store.list, () => soon('all', loadAll));
  if (store.list === 'loading') return empty('Loading…', 'The page asks for the notifications so far.');
  return empty('No notification yet', 'Point your provider at this emulator, or send a first push:',
    commandBlock(pushCommand()), h('p', {}, 'This command creates the phone if it is missing. Start the phone, so that it receives the push:'),
    commandBlock(deviceCommand()), h('p', {}, 'Or ', h('a', { href: '#send' }, 'send a test push'), ' from this page.'));
}

/* `isStep` where somebody chose it, rather than passed over it. */
export function select(id, isStep) {
  const isOpened = view.selected === null && id !== null;
  if (view.selected !== id) problem('replay');
  view.selected = id;
  view.split.classList.toggle('open', id !== null);
  const index = view.ids.indexOf(id);
  if (index >= 0) {
    const { element } = view;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }
  drawList();
  note(isStep || isOpened);
  showSelected();
}

function showSelected() {
  const id = view.selected;
  return showDetail(view.detail, id, { isWanted: () => view.selected === id, back: () => select(null, true), tab: view.tab, chose: (tab, isStep) => { view.tab = tab; note(isStep); } });
}

function move(step) {
  const index = view.ids.indexOf(view.selected);
  const next = index < 0 ? 0 : Math.min(view.ids.length - 1, Math.max(0, index + step));
  if (view.ids.length) select(view.ids[next]);
}

function choice(label, name, options) {
  return h('select', { 'aria-label': label, name, onchange: event => { filters[name] = event.target.value; note(true); refilter(); } },
    h('option', { value: '' }, label), options.map(([value, text]) => h('option', { value }, text || value)));
}

const choices = {
  state: ['Any state', Object.keys(stateClass).map(state => [state])], interface: ['Any interface', Object.entries(interfaceName)],
  verdict: ['Any verdict', [['accepted'], ['rejected']]],
};

/* Shows what the address says; what is there stays, so that the list does not move. */
export function notificationsPane(main, argument, { q = '', tab, ...words }) {
  if (!view.split?.isConnected) build(main);
  filters.text = q.trim();
  for (const [name, [, options]] of Object.entries(choices)) filters[name] = options.some(([value]) => value === words[name]) ? words[name] : '';
  if ($('search').value.trim() !== filters.text) $('search').value = filters.text;
  for (const menu of view.split.querySelectorAll('.filters select')) menu.value = filters[menu.name];
  if (argument) view.tab = tabNamed(tab);
  view.selected = argument ? Number(argument) : null;
  refilter();
  select(view.selected);
}

function build(main) {
  view.count = h('span', { class: 'faint small', role: 'status' });
  view.canvas = h('div', { class: 'canvas' });
  view.element = h('div', { id: 'list', role: 'listbox', tabindex: 0, 'aria-label': 'Notifications', onscroll: drawList, onkeydown: listKey }, view.canvas);
  view.detail = h('section', { id: 'detail', 'aria-label': 'Detail', tabindex: -1 });
  view.split = h('div', { class: 'split' },
    h('section', {},
      h('div', { class: 'bar filters' },
        h('input', { type: 'search', id: 'search', placeholder: 'Search, "exact phrase"', 'aria-label': 'Search',
          oninput: event => { const isBegun = filters.text === ''; filters.text = event.target.value.trim(); refilter(); note(isBegun && filters.text !== ''); } }),
        button('Clear', () => confirmed('Clear the history? All its notifications are deleted.', 'Clear', () => attempt('clear', async () => {
          await api('DELETE', '/api/v1/notifications'); store.notifications.clear(); select(null, true); refilter(); }))),
        Object.entries(choices).map(([name, [label, options]]) => choice(label, name, options)), view.count, problemAt('clear')),
      view.element),
    view.detail);
  show(main, view.split);
}

export function listKey(event) {
  const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key in steps) { event.preventDefault(); move(steps[event.key]); }
  if (event.key === 'Enter' && view.selected !== null) view.detail.focus();
}

on('notifications', refilter);
on('detail', id => { if (id === view.selected && view.detail && view.detail.isConnected) soon('detail', showSelected); });
/* Numbers of the boot before mean something else now. */
on('anew', () => {
  Object.assign(view, { first: null, seen: null });
  refilter();
  if (view.element?.isConnected) select(null);
});
