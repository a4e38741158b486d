/* What goes wrong on purpose. */
import { api, path } from './api.js';
import { button, cells, empty, h, table } from './dom.js';
import { attempt } from './notices.js';
import { listPane } from './panes.js';

/* What a rule does, as a person would say it. */
export function inWords({ when, effect }) {
  const strikes = !when ? 'always' : when.next ? `the next ${when.next === 1 ? 'one' : when.next}` : when.every ? `every ${when.every}` : when.probability ? `${when.probability * 100} % of them` : 'for some time';
  const what = Object.entries(effect).map(([name, value]) => ({
    reason: value, delayMs: `${value} ms late`, jitterMs: `up to ${value} ms more`, goaway: `GOAWAY${value.reason ? ` ${value.reason}` : ''}`, reset: 'TCP reset',
    refuse: 'new connections are refused', courier: value === 'drop' ? 'the device is lost at delivery' : 'the device stalls',
  })[name] || name);
  return `${strikes}: ${what.join(', ')}`;
}

let faultDraft = '{\n  "name": "mine",\n  "match": {"interface": "provider"},\n  "when": {"next": 2},\n  "effect": {"reason": "ServiceUnavailable"}\n}';

export const faultsPane = listPane('Faults', 'What goes wrong on purpose. Rules are looked at in this order, and the first that strikes is the only one. Magic tokens need no rule: the ASCII of !BadDeviceToken, !delay=500 or !reset, filled up with zeros to 32 bytes.',
  () => api('GET', '/api/v1/faults'), ({ faults, presets }, refresh) => {
    const act = (work, done) => attempt(async () => { await work(); await refresh(); }, done);
    const editor = h('textarea', { rows: 6, 'aria-label': 'Rule', spellcheck: 'false', value: faultDraft, oninput: event => { faultDraft = event.target.value; } });
    return [
      faults.length ? table(['Name', 'Match', 'When', 'Effect', 'Hits', 'Actions'], faults.map(rule => h('tr', {},
        cells(rule.name, h('code', {}, JSON.stringify(rule.match)), h('code', {}, rule.when ? JSON.stringify(rule.when) : 'always'), h('code', {}, JSON.stringify(rule.effect)), `${rule.hits} of ${rule.seen}`),
        h('td', {}, h('div', { class: 'row' }, h('label', { class: 'inline' }, h('input', { type: 'checkbox', checked: rule.enabled, onchange: event => act(() => api('POST', '/api/v1/faults', { name: rule.name, enabled: event.target.checked })) }), ' on'),
          button('Delete', () => act(() => api('DELETE', path('faults', rule.name))), { class: 'danger' }))))))
        : empty('All is well', 'Add a rule below and see how your provider takes it.'),
      h('h3', {}, 'Add a common one'), h('div', { class: 'presets' }, presets.map(rule => h('div', {},
        button(rule.name, () => act(() => api('POST', '/api/v1/faults', { preset: rule.name }), `${rule.name} added`), { 'aria-describedby': `preset-${rule.name}` }), h('small', { id: `preset-${rule.name}` }, inWords(rule))))),
      h('h3', {}, 'Or your own'), editor, h('div', { class: 'row' }, button('Add', () => act(() => api('POST', '/api/v1/faults', JSON.parse(editor.value)), 'Added'), { class: 'primary' }))];
  }, null, 'faults');
