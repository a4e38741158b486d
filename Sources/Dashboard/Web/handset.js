/* A phone as a picture: its frame, icons, notes and the pictures in them. What it shows others decide. */
import { h } from './dom.js';
import { emulatorNow } from './store.js';

/* The frame around a screen. */
export function handset(kind, attributes, ...content) {
  return h('div', { class: `handset ${kind}` }, h('div', { class: 'screen', ...attributes }, h('span', { class: 'island', 'aria-hidden': 'true' }), content));
}

export function lockClock() {
  const now = new Date(emulatorNow());
  return h('div', { class: 'lock-clock' }, h('div', { class: 'date' }, now.toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })),
    h('div', { class: 'time' }, hours(now)));
}

export const hours = time => new Date(time).toISOString().slice(11, 16);

/* How long ago, as a notification says it. */
export function ago(text) {
  const minutes = Math.floor((emulatorNow() - Date.parse(text)) / 60000);
  if (!(minutes >= 1)) return 'now';
  return minutes < 60 ? `${minutes}m ago` : minutes < 1440 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 1440)}d ago`;
}

/* The app's own topic: what is behind it names another of its tokens. */
const appTopic = topic => topic.replace(/\.(voip|voip-ptt|complication|location-query|push-type\..*|pushkit\..*)$/, '');

export function appName(topic) {
  const parts = appTopic(topic || 'app').split('.');
  return parts[parts.length - 1].replace(/[-_]+/g, ' ').replace(/^./, letter => letter.toUpperCase());
}

/* One of eight, always the same for the same words. */
const hueOf = text => Array.from(text || '').reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 8191, 7) % 8;

export function appIcon(topic, badge) {
  return h('span', { class: `icon hue-${hueOf(appTopic(topic))}`, 'aria-hidden': 'true' }, appName(topic).slice(0, 1), badge > 0 ? h('b', {}, badge > 999 ? '999+' : String(badge)) : null);
}

/* A note's icon, words and picture; `when` is short. Without a title it has the app's name. */
export function noteContent(note, when) {
  return [appIcon(note.topic), h('span', { class: 't' }, note.title || appName(note.topic)), h('span', { class: 'w' }, when),
    note.subtitle ? h('span', { class: 's' }, note.subtitle) : null, note.body ? h('span', { class: 'b' }, note.body) : null];
}

/* An attachment: a picture that was drawn by its name, as nothing is ever fetched; `data:` as it is. */
export function attachment(name, kind) {
  if (/^data:image\/(png|jpeg|gif|webp);/.test(name)) return h('img', { class: `attachment ${kind}`, src: name, alt: 'Attached picture' });
  const hue = hueOf(name), slope = 60 + 6 * hue;
  return svg('svg', { class: `attachment ${kind} hue-${hue}`, viewBox: '0 0 320 200', preserveAspectRatio: 'xMidYMid slice', role: 'img', 'aria-label': `Attached picture ${name}` },
    svg('rect', { class: 'sky', width: 320, height: 200 }), svg('circle', { class: 'sun', cx: 70 + 25 * hue, cy: 74, r: 26 }),
    svg('path', { class: 'far', d: `M0 ${slope + 60} L70 ${slope + 20} L120 ${slope + 50} L190 ${slope} L260 ${slope + 46} L320 ${slope + 24} V200 H0 Z` }),
    svg('path', { class: 'near', d: 'M0 158 Q80 128 160 156 T320 146 V200 H0 Z' }));
}

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
