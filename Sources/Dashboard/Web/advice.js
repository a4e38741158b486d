/* What providers were seen to do against Apple's advice. The emulator finds it; this page shows what it says. */
import { noteAddress } from './address.js';
import { api } from './api.js';
import { button, empty, facts, h, redraw, show } from './dom.js';
import { dateTime, interfaceName, sentence } from './format.js';
import { loadAdvice } from './loading.js';
import { attempt, confirmed, failed, problemAt } from './notices.js';
import { changed, on, store } from './store.js';

/* How often what has no event of its own is looked at again, in milliseconds: how often something was done. */
const interval = 2000;

const kinds = [['error', 'Errors', 'bad'], ['warning', 'Warnings', 'warn'], ['note', 'Notes', 'wait']];

const hint = 'An error is what Apple refuses or throttles, or what loses notifications. A warning is against Apple’s advice. What a fault refused does not count against a provider.';

/* The findings that a person has opened, by what tells them apart. */
const view = { area: null, drawn: null, open: new Set(), opened: null };

/* Each kind of payload problem is a finding of its own; the kind is what stands behind the number. */
const kindOf = ({ id, sentence: words }) => (id === 'payload' ? words.slice(words.indexOf(':') + 1).trim() : '');

export const keyOf = finding => {
  const { id, node, provider } = finding;
  return [id, kindOf(finding), node || '', provider.interface, provider.credential, provider.peer].join(' | ');
};

export function advicePane(main, argument) {
  Object.assign(view, { area: h('div', { tabindex: -1 }, h('p', { class: 'faint' }, 'Loading…')), drawn: null });
  /* An address opens what it names; one that the pane itself has written has nothing more to open. */
  view.opened = argument && ![...view.open].some(key => key.startsWith(`${argument} | `)) ? argument : null;
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Advice'), h('span', { class: 'space' }),
    button('Clear', () => confirmed('Clear the advice? All findings are deleted, and counting begins again.', 'Clear', () => attempt('advice', clear)))),
  h('div', { class: 'pane' }, h('p', { class: 'faint small' }, hint), problemAt('advice'), view.area));
  if (store.advice) draw();
  refresh(view.area);
}

async function clear() {
  await api('POST', '/api/v1/reset', { what: ['advice'] });
  await loadAdvice();
}

/* Again and again while the same pane is looked at. */
async function refresh(area) {
  if (view.area !== area || !area.isConnected) return;
  try {
    await loadAdvice();
  } catch (error) {
    view.drawn = null;
    if (view.area === area) show(area, failed('The advice could not be loaded', error, () => refresh(area)));
    return;
  }
  setTimeout(() => refresh(area), interval);
}

function draw() {
  const { area } = view;
  if (!area?.isConnected || !store.advice) return;
  /* What has not changed stays, so that nothing moves under the hands of somebody. */
  const text = JSON.stringify(store.advice);
  if (view.drawn === text) return;
  view.drawn = text;
  const { findings, notifications } = store.advice;
  if (view.opened) for (const finding of findings) if (finding.id === view.opened) view.open.add(keyOf(finding));
  redraw(area, () => show(area, findings.length ? kinds.map(([severity, title, mark]) => group(findings.filter(each => each.severity === severity), title, mark)) : nothing(notifications)));
}

const counted = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export const nothingWords = pushes => `Nothing to say about ${counted(pushes, 'push', 'pushes')}`;

const nothing = pushes => empty(nothingWords(pushes), pushes ? 'What a provider does against Apple’s advice appears here.' : 'Point your provider at this emulator. What it does against Apple’s advice appears here.');

function group(findings, title, mark) {
  if (!findings.length) return null;
  return h('section', { 'aria-label': title }, h('h3', {}, `${title} `, h('span', { class: 'faint small' }, String(findings.length))),
    h('ul', { class: 'happenings' }, findings.map(finding => h('li', { class: `happening finding ${mark}` }, entry(finding, mark)))));
}

function entry(finding, mark) {
  const key = keyOf(finding);
  const toggle = () => {
    if (view.open.delete(key)) return;
    view.open.add(key);
    noteAddress('advice', finding.id, {}, {}, true);
  };
  return h('details', { class: 'advice', open: view.open.has(key) },
    h('summary', { 'data-key': key, onclick: toggle },
      h('span', { class: `badge ${mark}` }, finding.severity), h('strong', { class: 'mono' }, finding.id),
      h('span', { class: 'faint small' }, whoOf(finding)), h('span', { class: 'what' }, sentence(finding.sentence))),
    details(finding));
}

/* Whom it is about, as far as that is known. */
export const whoOf = ({ provider, node }) => [interfaceName[provider.interface] || provider.interface, provider.credential, provider.peer, node && `at ${node}`].filter(Boolean).join(' · ');

function details({ remedy, count, connections, first, last, notifications, faults, evidence }) {
  return h('div', { class: 'advice-more' }, h('p', {}, h('strong', {}, 'What to do: '), sentence(remedy)), facts([
    ['Seen', `${counted(count, 'time')} on ${counted(connections, 'connection')}, ${first === last ? dateTime(first) : `${dateTime(first)} to ${dateTime(last)}`} UTC`],
    notifications.length ? ['Examples', notifications.map((id, index) => [index ? ', ' : '', h('a', { href: `#notifications/${id}` }, `notification ${id}`)])] : null,
    faults.length ? ['Under faults', [faults.map(fault => `${fault.name}: ${counted(fault.count, 'time')}`).join(', '), ' · ', h('a', { href: '#faults' }, 'rules')]] : null,
    ['Explained in', h('code', { class: 'break' }, `${evidence.page}#${evidence.heading}`)]]));
}

on('advice', draw);
on('anew', () => { view.open.clear(); changed('advice'); });
