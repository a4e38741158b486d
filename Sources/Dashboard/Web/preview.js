/* What a phone would show (Documentation/device-behaviour.md, Presentation, Silent push, Service extension). */
import { empty, h } from './dom.js';
import { emulatorNow } from './store.js';

export function previewPanel(notification) {
  const payload = notification.payload;
  const aps = payload && typeof payload === 'object' && payload.aps && typeof payload.aps === 'object' ? payload.aps : null;
  const notes = [];
  if (!notification.verdict.accepted) notes.push('It was rejected, so no device gets to see it. This is how it would look.');
  if (!aps) {
    return [empty('Nothing to show', payload === null ? 'The payload is not JSON.' : 'There is no aps dictionary: the app gets the payload, the user sees nothing.'), previewNotes(notes)];
  }
  const alert = visibleAlert(aps);
  const isSilent = aps['content-available'] === 1 && !alert && aps.badge === undefined && !aps.sound;
  if (notification.pushType === 'voip') notes.push('A VoIP push is handed to the app, which must report a call; the system shows nothing by itself.');
  if (notification.pushType === 'liveactivity') notes.push('A live activity is drawn by the app’s widget extension from content-state.');
  if (isSilent) {
    notes.push('Silent: nothing is shown, also when the user denied notifications. The app is called in the background and has about 30 s.');
    if (notification.pushType !== 'background' || notification.priority !== 5) {
      notes.push('Since iOS 13 a background app is only woken with apns-push-type: background and priority 5. This one has '
        + `${notification.pushType} and ${notification.priority}.`);
    }
  }
  if (aps['mutable-content'] === 1) {
    notes.push(alert
      ? 'mutable-content: a service extension may change it first, within 30 s.' : 'mutable-content has no effect without a title, subtitle or body.');
  }
  if (notification.collapseId) notes.push(`Replaces a shown notification with the collapse id ${notification.collapseId}.`);
  notes.push(...soundNotes(aps), ...wordNotes(alert));
  return [isSilent || !alert ? silentPhone(aps) : lockScreen(notification, aps, alert), previewNotes(notes)];
}

/* The alert as an object; null where it has no text, which counts as none (Documentation/device-behaviour.md, Silent push). */
export function visibleAlert(aps) {
  const alert = typeof aps.alert === 'string' ? { body: aps.alert } : aps.alert;
  if (!alert || typeof alert !== 'object') return null;
  const texts = ['title', 'subtitle', 'body', 'title-loc-key', 'subtitle-loc-key', 'loc-key'];
  return texts.some(name => typeof alert[name] === 'string' && alert[name]) ? alert : null;
}

function previewNotes(notes) { return notes.length ? h('ul', { class: 'facts small' }, notes.map(note => h('li', {}, note))) : null; }

function soundNotes(aps) {
  const notes = [];
  if (aps.sound && typeof aps.sound === 'object') notes.push(`Sound ${aps.sound.name || 'default'}${aps.sound.critical ? ', critical: also when muted (needs an entitlement)' : ''}.`);
  else if (aps.sound) notes.push(aps.sound === 'default' ? 'Plays the default sound.' : `Plays ${aps.sound} if the app has it, else the default sound.`);
  if (aps.badge === 0) notes.push('Removes the badge.');
  else if (aps.badge !== undefined) notes.push(`Sets the badge to ${aps.badge}.`);
  if (aps['thread-id']) notes.push(`Grouped with others of the thread ${aps['thread-id']}.`);
  if (aps.category) notes.push(`Offers the actions of the category ${aps.category}.`);
  const level = aps['interruption-level'];
  if (level) notes.push(level === 'passive' ? 'Passive: only in the list, without lighting the screen.' : `Interruption level ${level}.`);
  return notes;
}

/* Keys of Localizable.strings are filled with their arguments; without the app's strings the key itself shows. */
function wordNotes(alert) {
  const notes = [];
  for (const name of ['title-loc-key', 'subtitle-loc-key', 'loc-key']) {
    if (alert?.[name]) notes.push(`${name} is looked up in the app’s strings for the phone’s language; a missing key shows itself.`);
  }
  return notes;
}

export function localized(alert, text, key, args) {
  if (typeof alert[text] === 'string') return alert[text];
  if (typeof alert[key] !== 'string') return '';
  const values = Array.isArray(alert[args]) ? alert[args] : [];
  return values.length ? `${alert[key]} (${values.join(', ')})` : alert[key];
}

function phone(...content) {
  const now = new Date(emulatorNow());
  return h('div', { class: 'phone', role: 'img', 'aria-label': 'Lock screen' },
    h('div', { class: 'time' }, now.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false })),
    h('div', { class: 'date' }, now.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long' })), content);
}

export function appName(topic) {
  const parts = (topic || 'app').replace(/\.(voip|voip-ptt|complication|location-query|push-type\..*|pushkit\..*)$/, '').split('.');
  return parts[parts.length - 1].replace(/[-_]+/g, ' ').replace(/^./, letter => letter.toUpperCase());
}

function lockScreen(notification, aps, alert) {
  const name = appName(notification.topic);
  const title = localized(alert, 'title', 'title-loc-key', 'title-loc-args') || name;
  const subtitle = localized(alert, 'subtitle', 'subtitle-loc-key', 'subtitle-loc-args');
  const icon = h('div', { class: 'icon', 'aria-hidden': 'true' }, name.slice(0, 1), aps.badge > 0 ? h('b', {}, String(aps.badge)) : null);
  return phone(h('div', { class: 'note' }, icon, h('span', { class: 't' }, title), h('span', { class: 'w' }, 'now'),
    subtitle ? h('span', { class: 's' }, subtitle) : null,
    h('span', { class: 'b' }, localized(alert, 'body', 'loc-key', 'loc-args'))));
}

function silentPhone(aps) {
  return phone(h('p', { class: 'small' }, aps.badge === undefined && !aps.sound ? 'Nothing appears.' : 'Nothing appears here; the icon or the sound changes.'));
}
