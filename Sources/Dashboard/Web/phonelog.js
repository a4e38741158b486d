/* What happened on a phone, newest first, and why what did not happen did not. */
import { h } from './dom.js';
import { clockTime } from './format.js';
import { appName } from './handset.js';
import { happening, isCallback, isInVain, legend } from './happenings.js';

const filters = { all: ['All', () => true], calls: ['Callbacks', isCallback], vain: ['Why not', isInVain] };

/* As many as a person looks through; the phone remembers no more either. */
const most = 200;

export function phoneLog(view, hands) {
  const found = view.phone.log.filter(filters[view.filter][1]);
  const several = Object.keys(view.phone.apps).length > 1;
  return [h('div', { class: 'row' }, h('h3', {}, 'What happened'), h('span', { class: 'space' }),
    h('div', { class: 'segments', role: 'group', 'aria-label': 'Show' }, Object.entries(filters).map(([name, [title, isWanted]]) =>
      h('button', { type: 'button', 'data-key': `filter-${name}`, 'aria-pressed': String(name === view.filter), onclick: () => hands.look({ filter: name }) },
        title, h('span', { class: 'count' }, ` ${view.phone.log.filter(isWanted).length}`))))),
  found.length ? h('ol', { class: 'happenings' }, found.slice(-most).reverse().map(event => happening(event,
    h('span', { class: 'meta' }, several && event.topic ? h('span', { class: 'faint small' }, appName(event.topic)) : null,
    event.notificationId ? h('a', { class: 'small', href: `#notifications/${event.notificationId}`, 'aria-label': `Push ${event.notificationId}` }, `#${event.notificationId}`) : null,
    h('span', { class: 'faint small mono' }, clockTime(event.at).slice(0, 8))))))
    : h('p', { class: 'faint' }, { all: 'Nothing yet. Send a push to the phone, or open an app.', calls: 'No callback has run yet.', vain: 'Nothing was dropped or suppressed yet.' }[view.filter]),
  found.length ? legend() : null];
}
