/* What takes the whole screen of a phone, or lies over it: a note in full, a call, a question, a Live Activity. */
import { button, h } from './dom.js';
import { dateTime, sentence } from './format.js';
import { ago, appIcon, appName, attachment } from './handset.js';
import { shortToken } from './marks.js';
import { copy } from './notices.js';

/* Header, custom content, default content, actions: in the order of iOS. */
export function expandedNote(note, view, hands) {
  const close = () => hands.order('close', {});
  const reply = note.actions.find(action => action.id === view.reply && action.kind === 'text');
  return h('div', { class: 'expanded', role: 'group', 'aria-label': `Notification of ${appName(note.topic)}` },
    h('section', { class: 'sheet' },
      h('div', { class: 'row' }, appIcon(note.topic, 0), h('strong', {}, appName(note.topic)), h('span', { class: 'space' }), h('span', { class: 'when small' }, ago(note.at)),
        button('✕', close, { class: 'round', 'aria-label': 'Close', 'data-key': 'close' })),
      note.image ? attachment(note.image, 'large') : null,
      note.custom ? h('div', { class: 'custom' }, h('span', { class: 'small' }, 'drawn by the content extension'), h('strong', {}, note.custom), playButton(note.customView?.mediaPlayButton)) : null,
      h('button', { type: 'button', class: 'content', 'data-key': `note-${note.id}`, onclick: () => hands.order('tap', { id: note.id }) },
        h('span', { class: 't' }, note.title || appName(note.topic)), note.subtitle ? h('span', { class: 's' }, note.subtitle) : null, note.body ? h('span', { class: 'b' }, note.body) : null)),
    reply ? replyForm(note, reply, view, hands) : actionList(note, hands));
}

/* It plays nothing: there is no film. */
function playButton(play) {
  if (!play || play.type === 'none') return null;
  const sign = h('span', { class: `play ${play.type}`, role: 'img', 'aria-label': `Play button, ${play.type}` }, '▶');
  if (play.tint) sign.style.color = play.tint;
  return sign;
}

function actionList(note, hands) {
  if (!note.actions.length) return null;
  const choose = action => action.kind === 'text' ? hands.look({ reply: action.id, replyText: '', wantsReply: true }) : hands.order('action', { id: note.id, action: action.id });
  return h('ul', { class: 'sheet actions', 'aria-label': 'Actions' }, note.actions.map(action => h('li', {},
    h('button', { type: 'button', class: action.destructive ? 'stop' : '', 'data-key': `action-${action.id}`, onclick: () => choose(action) }, action.title,
      h('span', { class: 'small' }, [action.kind === 'text' ? 'text' : '', action.foreground ? 'opens the app' : '', action.authentication ? 'unlocks first' : ''].filter(Boolean).join(', '))))));
}

function replyForm(note, action, view, hands) {
  const send = event => {
    event.preventDefault();
    const { replyText: text } = view;
    if (!text) return;
    Object.assign(view, { reply: null, replyText: '' });
    hands.order('action', { id: note.id, action: action.id, text });
  };
  const field = h('input', { 'aria-label': action.title, placeholder: action.placeholder || '', value: view.replyText, autocomplete: 'off', 'data-key': 'reply', oninput: event => { view.replyText = event.target.value; } });
  if (view.wantsReply) {
    view.wantsReply = false;
    queueMicrotask(() => field.focus());
  }
  return h('form', { class: 'sheet reply', onsubmit: send }, field, h('button', { class: 'send', 'data-key': 'send' }, action.button || 'Send'),
    button('Cancel', () => hands.look({ reply: null }), { 'data-key': 'cancel' }));
}

/* Who calls, and by which app. */
export const callHead = ({ topic, caller, state }) => [h('span', { class: 'portrait', 'aria-hidden': 'true' }, (caller || '?').slice(0, 1)), h('strong', { class: 'caller' }, caller),
  h('span', {}, state === 'ringing' ? `${appName(topic)} Audio…` : `${appName(topic)} · connected`)];

export function callScreen(call, hands) {
  const isRinging = call.state === 'ringing';
  const choice = (name, kind, sign, answer) => h('div', { class: 'call-choice' }, h('button', { type: 'button', class: `round ${kind}`, 'aria-label': name, 'data-key': `call-${kind}`, onclick: () => hands.order('call', { take: answer }) }, sign), h('span', { class: 'small', 'aria-hidden': 'true' }, name));
  return h('div', { class: 'calling', role: 'group', 'aria-label': isRinging ? `Incoming call from ${call.caller}` : `Call with ${call.caller}` },
    callHead(call), h('span', { class: 'space' }),
    h('div', { class: 'row' }, isRinging ? [choice('Decline', 'decline', '✕', false), choice('Accept', 'accept', '✓', true)] : choice('End', 'decline', '✕', false)));
}

const kinds = { alert: 'alerts', sound: 'sounds', badge: 'icon badges' };

export function permissionPrompt({ topic, options }, hands) {
  const names = options.map(option => kinds[option] || option);
  const all = names.length > 1 ? `${names.slice(0, -1).join(', ')}${names.length > 2 ? ',' : ''} and ${names.at(-1)}` : names.join('');
  return h('div', { class: 'veil' }, h('section', { class: 'prompt', role: 'group', 'aria-label': 'Prompt for authorization' },
    h('strong', {}, `“${appName(topic)}” Would Like to Send You Notifications`),
    h('p', { class: 'small' }, `Notifications may include ${all || 'nothing in particular'}. These can be configured in Settings.`),
    h('div', { class: 'prompt-choices' }, button('Don’t Allow', () => hands.order('answer', { topic, allow: false }), { 'data-key': 'deny' }), button('Allow', () => hands.order('answer', { topic, allow: true }), { 'data-key': 'allow' }))));
}

/* Names as a program writes them, as words: `driverName`, `eta_minutes`. */
export const wordsOf = name => sentence(name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ').toLowerCase());

const shortValue = value => value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value);
const isShare = value => typeof value === 'number' && value > 0 && value < 1;

/* The first words of its state, for where there is room for no more. */
export function activityWords({ contentState, attributesType }) {
  const first = Object.values(contentState).find(value => typeof value === 'string') ?? Object.values(contentState)[0];
  return first === undefined ? attributesType : shortValue(first);
}

/* The activity's own, for who pushes its updates. */
const ownToken = ({ id, token }) => token ? h('div', { class: 'row own-token' }, shortToken(token), h('span', { class: 'space' }),
  button('Copy token', () => copy(token, `Token of ${id}`), { class: 'pill', 'aria-label': `Copy the token of ${id}`, 'data-key': `token-${id}` })) : null;

/* With hands it can be taken away. */
export function activityCard(activity, hands) {
  const { topic, attributesType, attributes, contentState, state, alert } = activity;
  const members = Object.entries(contentState), share = members.find(([, value]) => isShare(value));
  return h('section', { class: `activity ${state}`, 'aria-label': `Live Activity ${attributesType}` },
    h('div', { class: 'row' }, appIcon(topic, 0), h('strong', {}, appName(topic)), h('span', { class: 'space' }),
      h('span', { class: 'badge' }, state === 'active' ? 'live' : state === 'stale' ? 'out of date' : 'ended'),
      hands ? button('✕', () => hands.order('remove-activity', { activity: activity.id }), { class: 'round', 'aria-label': `Remove ${activity.id}`, 'data-key': `remove-${activity.id}` }) : null),
    alert ? h('div', {}, alert.title ? [h('strong', {}, alert.title), ' '] : null, alert.body) : null,
    h('dl', {}, members.filter(([, value]) => !isShare(value)).map(([name, value]) => h('div', {}, h('dt', {}, wordsOf(name)), h('dd', {}, shortValue(value))))),
    share ? h('progress', { max: 1, value: share[1], 'aria-label': wordsOf(share[0]) }) : null,
    h('div', { class: 'small under' }, [wordsOf(attributesType), ...Object.values(attributes || {}).map(shortValue)].join(' · '),
      activity.channel ? ` · channel ${activity.channel}` : '', activity.dismissalDate ? ` · disappears ${dateTime(activity.dismissalDate)}` : ''),
    ownToken(activity));
}
