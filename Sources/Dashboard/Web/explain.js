/* A payload as it is written: what is wrong with it, and what a phone would do. The emulator goes by its rules; this page knows
   none of them. */
import { readAddress } from './address.js';
import { api, path, questions } from './api.js';
import { button, empty, h, show } from './dom.js';
import { bytesOf, pushTypes, sentence, textOf } from './format.js';
import { appName, handset, hours, lockClock, noteContent } from './handset.js';
import { evidence, happening, legend } from './happenings.js';
import { failed, problem, problemAt } from './notices.js';
import { activityCard, callHead } from './phonescenes.js';
import { partProblem } from './resend.js';
import { emulatorNow } from './store.js';

const examples = {
  Alert: [{ aps: { alert: { title: 'Storm', body: 'Tonight, from the west' }, badge: 1, sound: 'default' } }, 'alert', ''],
  Silent: [{ aps: { 'content-available': 1 } }, 'background', '5'],
  'Silent with a sound': [{ aps: { 'content-available': 1, sound: 'default' } }, 'background', '10'],
  'With mistakes': [{ aps: { alert: { titel: 'Storm', body: 7 }, badge: '3', 'interruption-level': 'urgent' }, 'thread-id': 'weather' }, 'alert', ''],
  Call: [{ caller: 'Ada Lovelace' }, 'voip', ''],
  'Live Activity': [{ aps: { event: 'start', timestamp: 1767225600, 'attributes-type': 'Delivery', attributes: { order: 'Parcel 470' }, 'content-state': { stopsLeft: 3, arrival: '15:40', progress: 0.7 }, alert: { title: 'On its way', body: 'Three stops' } } }, 'liveactivity', ''],
  'Skipped extension': [{ aps: { alert: '', 'mutable-content': 1, sound: 'default' } }, '', ''],
};

const versions = ['26.4', '26', '18', '17', '16', '15', '14', '13', '12', '11', '10', '9', '8', '7'];
const states = ['foreground', 'background', 'suspended', 'terminated', 'force-quit', 'never-launched'];

/* Stays as it was when somebody comes back. */
const draft = { text: JSON.stringify(examples.Alert[0], null, 2), payloadBase64: null, pushType: 'alert', priority: '', appState: 'suspended', ios: '26' };

/* What the emulator says of a push that nobody sends: of its text, or of the bytes that came. */
export const explained = ({ text, payloadBase64, pushType, priority, appState, ios }) =>
  api('POST', '/api/v1/explain', { ...(payloadBase64 ? { payloadBase64 } : { payload: text }), pushType: pushType || null, priority: priority ? Number(priority) : null, appState, ios });

export async function explainPane(main, argument) {
  const view = { outcome: h('div', { class: 'outcome' }), findings: h('div', { 'aria-live': 'polite' }), ask: questions(), timer: null };
  problem('explain');
  if (argument) {
    show(main, h('p', { class: 'pane faint' }, 'Loading…'));
    const given = await api('GET', path('notifications', argument)).catch(error => error);
    const here = readAddress(location.hash);
    if (here?.pane !== 'explain' || here.argument !== argument) return;
    if (given instanceof Error || given.truncated) problem('explain', given.truncated ? partProblem(given) : given);
    else Object.assign(draft, draftOf(given));
  }
  const editor = h('textarea', { id: 'explain-payload', class: 'editor', rows: 14, spellcheck: 'false', 'aria-label': 'Payload', value: draft.text, oninput: event => { Object.assign(draft, { text: event.target.value, payloadBase64: null }); later(); } });
  const ask = () => refresh(view, editor);
  const later = () => { clearTimeout(view.timer); view.timer = setTimeout(ask, 120); };
  const settings = h('div', { class: 'row settings' });
  const fill = () => show(settings, choices(draft, ['pushType', 'priority', 'appState', 'ios'], ask));
  const take = ([payload, pushType, priority]) => {
    Object.assign(draft, { text: JSON.stringify(payload, null, 2), payloadBase64: null, pushType, priority });
    editor.value = draft.text;
    fill();
    ask();
  };
  fill();
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Explain a payload')), h('div', { class: 'pane explain' },
    h('section', { 'aria-label': 'Payload' }, h('p', { class: 'faint small' }, 'Write a payload to see its mistakes and what a phone would do with it. Nothing is sent.'), problemAt('explain'),
      h('div', { class: 'row' }, Object.entries(examples).map(([name, example]) => button(name, () => take(example)))), settings, editor, view.findings),
    view.outcome));
  ask();
}

/* Where and why a payload is not JSON, in the emulator's words; undefined if it is. */
export const notJSON = ({ findings }) => findings.filter(each => each.rule === 'not-json').map(each => sentence(each.reason))[0];

/* What the provider said itself: the binary protocol has no push type, a request may leave it out. */
export function draftOf(notification) {
  const says = name => notification.interface === 'console' || notification.headers.some(each => each.name === name);
  return {
    text: textOf(bytesOf(notification.payloadBase64)), payloadBase64: notification.payloadBase64, pushType: says('apns-push-type') ? notification.pushType : '',
    priority: notification.interface === 'gateway' || says('apns-priority') ? String(notification.priority) : '',
  };
}

const words = {
  pushType: ['Push type', [['', 'not set'], ...pushTypes.map(each => [each, each])]], priority: ['Priority', [['', 'not set'], ['10', '10'], ['5', '5'], ['1', '1']]],
  appState: ['App', states.map(each => [each, each])], ios: ['iOS', versions.map(each => [each, each])],
};

/* Menus for members of a draft. */
export function choices(target, names, changed) {
  return names.map(name => h('label', { class: 'choice' }, h('span', { class: 'faint small' }, words[name][0]),
    h('select', { name, onchange: event => { target[name] = event.target.value; changed(); } }, words[name][1].map(([value, text]) => h('option', { value, selected: value === target[name] }, text)))));
}

async function refresh(view, editor) {
  clearTimeout(view.timer);
  const isNewest = view.ask();
  try {
    const answer = await explained(draft);
    if (!isNewest()) return;
    show(view.findings, findingList(answer, editor));
    show(view.outcome, outcome(answer));
  } catch (error) {
    if (isNewest()) show(view.outcome, failed('The payload could not be checked', error, () => refresh(view, editor)));
  }
}

const marks = { error: 'bad', warning: 'warn', advice: 'wait' };

function findingList({ findings }, editor) {
  const count = name => findings.filter(each => each.severity === name).length;
  const summary = Object.keys(marks).filter(count).map(name => `${count(name)} ${name}${count(name) > 1 && name !== 'advice' ? 's' : ''}`).join(', ');
  return [h('h3', {}, findings.length ? summary : h('span', { class: 'good' }, '✓ No mistakes found'), h('span', { class: 'faint small' }, ` · ${new TextEncoder().encode(editor.value).length} bytes`)),
    h('ul', { class: 'happenings' }, findings.slice(0, 100).map(finding => h('li', { class: `happening finding ${marks[finding.severity]}` },
      h('div', { class: 'row' }, h('span', { class: `badge ${marks[finding.severity]}` }, finding.severity), finding.place
        ? button(finding.place, () => mark(editor, finding.place), { class: 'plain mono', title: 'Select it in the payload' }) : h('span', { class: 'faint' }, 'whole push')),
      h('div', { class: 'small why' }, sentence(finding.reason), ' ', h('code', { class: 'rule' }, finding.rule), ' ', evidence(finding.evidence)))))];
}

/* Where `aps.alert.title` begins and ends in the text, as far as its names are there. */
export function rangeOf(text, place) {
  let found = null;
  for (const name of place.split('.')) {
    const quoted = JSON.stringify(name);
    const start = text.indexOf(quoted, found ? found[1] : 0);
    if (start < 0) return found;
    found = [start, start + quoted.length];
  }
  return found;
}

function mark(editor, place) {
  const range = rangeOf(editor.value, place);
  editor.focus();
  if (range) editor.setSelectionRange(...range);
}

/* What a phone does: a picture, and the events behind it. */
export function outcome(answer, topic = 'com.example.app') {
  return [picture(answer, topic),
    h('section', { 'aria-label': 'What the phone does' }, h('h3', {}, `iOS ${answer.phone.ios}, ${stateWords[answer.phone.appState] || `app ${answer.phone.appState}`}`),
      answer.phone.remark ? h('p', { class: 'faint small' }, sentence(answer.phone.remark)) : null,
      answer.onArrival.length ? list(answer.onArrival) : h('p', { class: 'faint' }, 'Nothing happens, because an app can’t read this payload.'),
      answer.onTap.length ? [h('h3', {}, 'When the user taps it'), list(answer.onTap)] : null, legend())];
}

const stateWords = { foreground: 'app in the foreground', 'force-quit': 'app force-quit' };
const list = events => h('ol', { class: 'happenings' }, events.map(event => happening(event)));

/* A call takes the whole screen; else the app that is open with what comes down over it, or the lock screen with all there is. */
function picture(answer, topic) {
  const { note, call, onArrival, phone } = answer;
  const places = note ? note.places : [];
  const isOpen = phone.appState === 'foreground' || (places.includes('banner') && !places.includes('lock screen'));
  const inside = call ? h('div', { class: 'calling' }, callHead({ ...call, topic })) : isOpen ? openApp(answer, topic) : lockedScreen(answer, topic);
  const badge = onArrival.findLast(each => each.event === 'badge')?.detail;
  return h('figure', { class: 'preview' }, handset('short', { role: 'img', 'aria-label': wordsOfPicture(answer, topic, isOpen) }, inside),
    h('figcaption', { class: 'small' }, caption(answer), onArrival.some(each => each.event === 'sound') ? '; a sound plays' : '', badge !== undefined ? `; the icon has ${badge === '0' ? 'no badge' : `the badge ${badge}`}` : ''));
}

const noteCard = (note, topic) => note ? h('div', { class: 'note' }, noteContent({ ...note, topic }, 'now')) : null;

function openApp({ note }, topic) {
  return [h('div', { class: 'status', 'aria-hidden': 'true' }, hours(emulatorNow())), noteCard(note, topic), h('div', { class: 'app' }, h('strong', {}, appName(topic)), h('span', { class: 'small' }, 'in the foreground'))];
}

function lockedScreen({ note, activities }, topic) {
  const isInListOnly = note && !note.places.includes('lock screen');
  /* Its dates are those of a phone that was made for this. */
  const cards = activities.map(activity => activityCard({ ...activity, topic, dismissalDate: null }));
  return [lockClock(), cards, isInListOnly ? h('div', { class: 'small center' }, 'Notification Centre') : null, noteCard(note, topic),
    note || cards.length ? null : h('p', { class: 'small center' }, 'Nothing appears.')];
}

function caption({ note, call, activities, onArrival }) {
  if (call) return 'The app reports a call';
  if (note) return note.places.includes('lock screen') ? 'On the lock screen' : note.places.includes('banner') ? 'As a banner' : 'In the list only, silently';
  if (activities.length) return 'A Live Activity';
  return onArrival.length ? 'Nothing appears' : 'A phone can’t show this payload';
}

function wordsOfPicture({ note, call, activities }, topic, isOpen) {
  if (call) return `Incoming call from ${call.caller}`;
  const words = note ? [note.title || appName(topic), note.subtitle, note.body].filter(Boolean).join('. ') : activities.length ? 'a Live Activity' : 'nothing appears';
  return `${isOpen ? 'The app is open' : 'Lock screen'}: ${words}`;
}

export const nothingToExplain = () => empty('No payload', 'The push has no payload, so a phone does nothing.');
