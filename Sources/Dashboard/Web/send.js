/* Sends a test push on either protocol. */
import { api, limits } from './api.js';
import { credentialFields, credentialOf, forgetCredential } from './credential.js';
import { button, h, show } from './dom.js';
import { base64Of, outcomeOf, pushTypes } from './format.js';
import { problem, problemAt } from './notices.js';
import { changed, keep, store } from './store.js';

export const drafts = { push: null };

const templates = {
  Alert: { aps: { alert: { title: 'Hello', body: 'A test push' }, sound: 'default' } },
  Badge: { aps: { badge: 3 } },
  Silent: { aps: { 'content-available': 1 } },
  Localized: { aps: { alert: { 'title-loc-key': 'GREETING', 'title-loc-args': ['Ada'], 'loc-key': 'NEWS' } } },
  Thread: { aps: { alert: 'One of many', 'thread-id': 'chat', 'interruption-level': 'time-sensitive' } },
};

export function sendPane(main) {
  const draft = drafts.push || {};
  const input = (name, attributes) => h('input', { id: `push-${name}`, name, 'aria-describedby': `problem-push-${name}`, value: draft[name] === undefined ? '' : String(draft[name]), ...attributes });
  const field = (name, label, element) => [h('label', { for: `push-${name}` }, label), element, problemAt(`push-${name}`)];
  const known = store.tokens.filter(row => row.state === 'active').reverse();
  const token = input('token', { list: 'known-tokens', required: true, class: 'mono', autocomplete: 'off', spellcheck: 'false', value: drafts.push ? draft.token : known[0] ? known[0].token : '' });
  const topic = input('topic', { required: true, value: drafts.push ? draft.topic : known[0] ? known[0].topic : '', list: 'known-topics' });
  const protocol = h('select', { id: 'push-protocol', name: 'protocol' }, [['http2', 'HTTP/2'], ['legacy2', 'Binary protocol, command 2'], ['legacy1', 'Binary protocol, command 1'], ['legacy0', 'Binary protocol, command 0']]
    .map(([value, text]) => h('option', { value, selected: value === (draft.protocol === 'legacy' ? `legacy${draft.command}` : 'http2') }, text)));
  const pushType = h('select', { id: 'push-pushType', name: 'pushType' }, pushTypes
    .map(value => h('option', { value, selected: value === (draft.pushType || 'alert') }, value)));
  const payloadText = h('textarea', { id: 'push-payload', name: 'payload', rows: 9, spellcheck: 'false', value: draft.text ?? JSON.stringify(templates.Alert, null, 2) });
  const size = h('span', { class: 'small faint', role: 'status' });
  const outcome = h('div', { 'aria-live': 'polite' });
  const httpOnly = [field('pushType', 'Push type', pushType), field('collapseId', 'Collapse ID', input('collapseId', { maxlength: 64 }))].flat();
  const legacyOnly = field('identifier', 'Identifier', input('identifier', { type: 'number', min: 0, max: 4294967295 }));

  const check = () => {
    const bytes = new TextEncoder().encode(payloadText.value).length;
    let problem = '';
    try { JSON.parse(payloadText.value); } catch { problem = ', not JSON'; }
    const isLegacy = protocol.value !== 'http2';
    const limit = isLegacy ? 2048 : pushType.value === 'voip' ? 5120 : 4096;
    size.textContent = `${bytes} of ${limit} bytes${problem}`;
    size.className = `small ${problem || bytes > limit ? 'bad' : 'faint'}`;
    for (const element of httpOnly) element.hidden = isLegacy;
    for (const element of legacyOnly) element.hidden = !isLegacy;
  };
  token.addEventListener('change', () => {
    const row = store.tokens.find(each => each.token === token.value);
    if (row) topic.value = row.topic;
  });
  for (const element of [payloadText, protocol, pushType]) element.addEventListener('input', check);

  const form = h('form', { class: 'grid', onsubmit: event => { event.preventDefault(); submitPush(form, outcome); } },
    field('protocol', 'Protocol', protocol), field('token', 'Device token', token), field('topic', 'Topic', topic), httpOnly, legacyOnly,
    field('priority', 'Priority', h('select', { id: 'push-priority', name: 'priority' }, ['10', '5', '1'].map(value => h('option', { value, selected: value === String(draft.priority || 10) }, value)))),
    field('expiration', 'Expiration', input('expiration', { type: 'number', min: 0, placeholder: 'UNIX seconds. Empty: in 30 days. 0: not stored' })),
    credentialFields(),
    h('label', { for: 'push-payload' }, 'Payload'), h('div', { class: 'row' }, Object.entries(templates).map(([name, value]) =>
      button(name, () => {
        payloadText.value = JSON.stringify(value, null, 2);
        if (name === 'Silent') { pushType.value = 'background'; form.elements.priority.value = '5'; }
        check();
      })), size),
    h('div', { class: 'wide' }, payloadText),
    h('div', { class: 'wide row' }, h('button', { class: 'primary' }, 'Send'), h('span', { class: 'faint small' }, 'Without a certificate or key, the emulator sends as a provider that may push to the topic. A file that you choose is used for this push only and is not stored.')));
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Send a test push')), h('div', { class: 'pane' },
    h('datalist', { id: 'known-tokens' }, known.slice(0, 200).map(row => h('option', { value: row.token }, `${row.udid} · ${row.topic}`))),
    h('datalist', { id: 'known-topics' }, Array.from(new Set(known.map(row => row.topic)), name => h('option', { value: name }))),
    h('div', { class: 'card' }, form), outcome));
  check();
}

async function submitPush(form, outcome) {
  const value = name => form.elements[name].value.trim();
  const isLegacy = value('protocol') !== 'http2';
  const row = store.tokens.find(each => each.token === value('token'));
  const push = {
    protocol: isLegacy ? 'legacy' : 'http2', token: value('token'), topic: value('topic'), priority: Number(value('priority')),
    payloadBase64: base64Of(new TextEncoder().encode(form.elements.payload.value)),
  };
  if (row) push.environment = row.environment;
  if (value('expiration') !== '') push.expiration = Number(value('expiration'));
  if (isLegacy) Object.assign(push, { command: Number(value('protocol').slice(-1)), identifier: Number(value('identifier') || 0) });
  else {
    push.pushType = value('pushType');
    if (value('collapseId')) push.collapseId = value('collapseId');
  }
  drafts.push = { ...push, text: form.elements.payload.value };
  /* What became of the push before is no answer to this one. */
  show(outcome);
  for (const { name } of form.elements) problem(`push-${name}`);
  let sent;
  try {
    sent = await api('POST', '/api/v1/push', { ...push, credential: await credentialOf(form) }, limits.push);
  } catch (error) {
    notSent(form, outcome, String(error.message || error));
    return;
  }
  forgetCredential(form);
  keep(sent);
  changed('notifications');
  show(outcome, h('div', { class: 'card' }, h('p', { class: sent.verdict.accepted ? 'good' : 'bad' }, h('strong', {}, sent.verdict.accepted ? `Accepted, ${sent.state}` : outcomeOf(sent))),
    sent.verdict.explanation ? h('p', {}, sent.verdict.explanation) : null, h('a', { href: `#notifications/${sent.id}` }, `Open notification #${sent.id}`)));
}

/* At the field that the emulator names, else below the form. */
function notSent(form, outcome, message) {
  const [, name, text] = /^(\w+): (.*)$/s.exec(message) || [];
  if (name in form.elements && problem(`push-${name}`, text)) { form.elements[name].focus(); return; }
  show(outcome, h('div', { class: 'card' }, h('p', { class: 'bad' }, h('strong', {}, 'Not sent: '), message)));
}
