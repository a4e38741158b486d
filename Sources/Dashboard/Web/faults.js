/* What goes wrong on purpose. */
import { api, path } from './api.js';
import { button, cells, empty, h, redraw, show, table } from './dom.js';
import { faultEditor } from './faulteditor.js';
import { formOf } from './faultform.js';
import { attempt, failed, problemAt, toast } from './notices.js';
import { on } from './store.js';

/* What a rule does, as a person would say it. */
export function inWords({ when, effect }) {
  const moments = !when ? 'every time' : when.next ? when.next === 1 ? 'next time' : `next ${when.next} times` : when.every ? `one time in ${when.every}` : when.nth ? `time ${when.nth} only` : when.probability ? `${when.probability * 100} % of the time` : 'in a period of time';
  const what = Object.entries(effect).map(([name, value]) => ({
    reason: value, delayMs: `delay of ${value} ms`, jitterMs: `up to ${value} ms more`, goaway: `GOAWAY${value.reason ? ` ${value.reason}` : ''}${value.keepsOpen ? ', connection left open' : ''}`, reset: 'TCP reset',
    taken: 'after the push was taken', streamLimit: `${value} streams at a time`, initialStreamLimit: `${value} streams at a time`,
    refuse: 'new connections refused', courier: value === 'drop' ? 'device’s connection reset' : 'device’s connection stalled',
  })[name] || name);
  return `${moments}: ${what.join(', ')}`;
}

/* The parts of the pane, the rules that there are, and the API's description, which does not change while the emulator runs. */
const view = { rules: null, presets: null, form: null, editor: null, known: [], description: null };

const hint = 'Rules inject faults into the pushes, connections and deliveries that they match. The first rule of this list that matches, and whose When applies, injects its fault. No other rule does. A magic token needs no rule: it is the ASCII of !BadDeviceToken, !delay=500 or !reset, filled up with zeros to 32 bytes.';

export function faultsPane(main) {
  const loading = () => h('p', { class: 'faint' }, 'Loading…');
  Object.assign(view, { rules: h('div', { tabindex: -1 }, loading()), presets: h('div', {}), form: h('div', {}, loading()), editor: null });
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Faults'), h('span', { class: 'space' }), button('Refresh', refresh)),
    h('div', { class: 'pane' }, h('p', { class: 'faint small' }, hint), view.rules, h('h3', { id: 'new-rule' }, 'Add a rule'), view.presets, view.form));
  refresh();
  begin();
}

/* The editor begins as soon as it is known what a rule may have. */
async function begin() {
  const { form } = view;
  try {
    view.description ??= await api('GET', '/api/v1/openapi.json');
    if (view.form !== form) return;
    view.editor = faultEditor(formOf(view.description), { add, names: () => view.known });
    show(form, view.editor.element);
    view.editor.begin();
  } catch (error) {
    if (view.form === form) show(form, failed('The form could not be loaded', error, begin));
  }
}

async function add(rule) {
  const made = await api('POST', '/api/v1/faults', rule);
  toast(`Rule ${made.name} ${view.known.includes(made.name) ? 'replaced' : 'added'}`);
  await refresh();
}

async function refresh() {
  const { rules } = view;
  if (!rules?.isConnected) return;
  try {
    const { faults, presets } = await api('GET', '/api/v1/faults');
    if (view.rules !== rules) return;
    view.known = faults.map(rule => rule.name);
    redraw(rules, () => show(rules, ruleList(faults)));
    if (!view.presets.firstChild) show(view.presets, presetRow(presets));
    view.editor?.look();
  } catch (error) {
    if (view.rules === rules) show(rules, failed('The rules could not be loaded', error, refresh));
  }
}

function presetRow(presets) {
  return [h('p', { class: 'faint small' }, 'Start from a preset, or fill in the fields below:'), h('div', { class: 'presets' }, presets.map(rule => h('div', {},
    button(rule.name, () => fill(rule), { 'aria-describedby': `preset-${rule.name}` }), h('small', { id: `preset-${rule.name}` }, inWords(rule)))))];
}

function fill(rule) {
  if (!view.editor) return;
  view.editor.fill(rule);
  view.editor.submit.focus({ preventScroll: true });
}

function ruleList(rules) {
  if (!rules.length) return empty('No fault rules', 'Add a rule below to see how your provider handles the fault.');
  const json = part => h('code', { class: 'break' }, JSON.stringify(part));
  return table(['Name', 'Match', 'When', 'Effect', 'Hits', 'Actions'], rules.map(rule => h('tr', {},
    cells(rule.name, Object.keys(rule.match).length ? json(rule.match) : 'anything', rule.when ? json(rule.when) : 'every time', json(rule.effect), h('span', { class: 'oneline' }, `${rule.hits} of ${rule.seen}`)), h('td', {}, ruleActions(rule)))));
}

function ruleActions(rule) {
  const place = `fault ${rule.name}`;
  const act = async work => { await attempt(place, work); await refresh(); };
  return [h('div', { class: 'row tight' },
    h('label', { class: 'inline' }, h('input', { type: 'checkbox', checked: rule.enabled, 'data-key': `on ${rule.name}`, onchange: event => act(() => api('POST', '/api/v1/faults', { name: rule.name, enabled: event.target.checked })) }), ' enabled'),
    button('Edit', () => { fill(rule); view.form.scrollIntoView({ block: 'nearest' }); }, { 'data-key': `edit ${rule.name}` }),
    button('Delete', () => act(() => api('DELETE', path('faults', rule.name))), { class: 'danger', 'data-key': `delete ${rule.name}` })), problemAt(place)];
}

on('faults', refresh);
