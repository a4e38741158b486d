/* The emulator's clock. */
import { api } from './api.js';
import { button, facts, h, show } from './dom.js';
import { duration } from './format.js';
import { loadClock } from './loading.js';
import { attempt } from './notices.js';
import { emulatorNow, store } from './store.js';

export const preciseTime = () => new Date(emulatorNow()).toISOString().replace('T', ' ').replace('Z', ' UTC');

export function clockPane(main) {
  const put = (change, done) => attempt(async () => { await api('PUT', '/api/v1/clock', change); await loadClock(); draw(); }, done);
  const area = h('div', { class: 'pane' });
  const draw = () => {
    const { frozen, offset } = store.clock;
    const moment = h('input', { type: 'datetime-local', step: 1, 'aria-label': 'Set the clock', value: new Date(emulatorNow()).toISOString().slice(0, 19) });
    show(area, h('div', { class: 'card' },
      facts([['Now', h('strong', { id: 'clock-now' }, preciseTime())], ['Offset', offset ? `${duration(offset * 1000)} from the system’s clock` : 'none, it is the system’s time'], ['Runs', frozen ? 'no, it is frozen' : 'yes']]),
      h('div', { class: 'row' }, ['1m', '61m', '1d', '30d'].map(step => button(`+${step}`, () => put({ advance: step }, `Advanced by ${step}`))),
        button(frozen ? 'Let it run' : 'Freeze', () => put({ freeze: !frozen })),
        button('Back to the system’s time', () => attempt(async () => { await api('POST', '/api/v1/reset', { what: ['clock'] }); await loadClock(); draw(); }))),
      h('form', { class: 'bar', onsubmit: event => { event.preventDefault(); put({ set: `${moment.value.length === 16 ? moment.value + ':00' : moment.value}Z` }, 'Set'); } }, h('span', {}, 'UTC'), moment, h('button', {}, 'Set'))),
    h('p', { class: 'faint small' }, 'One clock drives every expiry: kept messages, provider tokens (one hour), certificates, and the times shown here.'));
  };
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Clock')), area);
  draw();
}
