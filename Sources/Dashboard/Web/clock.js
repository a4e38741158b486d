/* The emulator's clock. */
import { api } from './api.js';
import { button, facts, h, show } from './dom.js';
import { duration } from './format.js';
import { loadClock } from './loading.js';
import { attempt, problemAt } from './notices.js';
import { emulatorNow, on, store } from './store.js';

export const preciseTime = () => new Date(emulatorNow()).toISOString().replace('T', ' ').replace('Z', ' UTC');

/* What is shown of the clock, and how it is drawn; somebody else may set it. */
const view = { area: null, shown: '', draw: null };
const stateOf = ({ frozen, offset }) => `${frozen} ${offset}`;

export function clockPane(main) {
  const put = (change, done, place = 'clock') => attempt(place, async () => { await api('PUT', '/api/v1/clock', change); await loadClock(); draw(); }, done);
  const area = h('div', { class: 'pane' });
  const draw = () => {
    const { frozen, offset } = store.clock;
    view.shown = stateOf(store.clock);
    const moment = h('input', { type: 'datetime-local', step: 1, 'aria-label': 'Set the clock', value: new Date(emulatorNow()).toISOString().slice(0, 19) });
    show(area, h('div', { class: 'card' },
      facts([['Now', h('strong', { id: 'clock-now' }, preciseTime())], ['Offset', offset ? `${duration(offset * 1000)} from wall-clock time` : 'none: wall-clock time'], ['State', frozen ? 'frozen' : 'running']]),
      h('div', { class: 'row' }, ['1m', '61m', '1d', '30d'].map(step => button(`+${step}`, () => put({ advance: step }, `Advanced by ${step}`))),
        button(frozen ? 'Unfreeze' : 'Freeze', () => put({ freeze: !frozen })),
        button('Reset to wall-clock time', () => attempt('clock', async () => { await api('POST', '/api/v1/reset', { what: ['clock'] }); await loadClock(); draw(); })), problemAt('clock')),
      h('form', { class: 'bar', onsubmit: event => { event.preventDefault(); put({ set: `${moment.value.length === 16 ? moment.value + ':00' : moment.value}Z` }, 'Clock set', 'clock set'); } }, h('span', {}, 'UTC'), moment, h('button', {}, 'Set'), problemAt('clock set'))),
    h('p', { class: 'faint small' }, 'This clock decides when stored notifications, provider tokens (one hour) and certificates expire. All times on these pages are its times.'));
  };
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Clock')), area);
  Object.assign(view, { area, draw });
  draw();
}

on('other', () => { if (view.area?.isConnected && view.shown !== stateOf(store.clock) && !view.area.contains(document.activeElement)) view.draw(); });
