/* Messages to the user, and questions. */
import { Unreachable } from './api.js';
import { $, button, empty, h, show } from './dom.js';
import { sentence } from './format.js';

export function toast(text) {
  const note = h('div', { class: 'toast' }, h('span', { title: text }, text), button('×', () => note.remove(), { 'aria-label': 'Close' }));
  $('toasts').append(note);
  /* Not while somebody reads it, or is about to close it. */
  const leave = () => { if (note.matches(':hover, :focus-within')) setTimeout(leave, 2000); else note.remove(); };
  setTimeout(leave, 6000);
}

/* What stays until it is mended or read, by its subject. */
export const notices = new Map();

export function notice(subject, ...content) {
  if (content.length) notices.set(subject, h('div', { class: `notice ${subject}` }, content)); else if (!notices.delete(subject)) return;
  show($('notices'), Array.from(notices.values()));
}

/* What a part of the page shows when it can't be had. */
export function failed(title, error, again) {
  return empty(error instanceof Unreachable ? 'No answer' : title, sentence(String(error.message || error)), h('p', {}, button('Try again', again)));
}

/* Does something for a button; what goes wrong is told. */
export async function attempt(work, done) {
  try {
    const result = await work();
    if (done) toast(done);
    return result;
  } catch (error) {
    toast(String(error.message || error));
    return undefined;
  }
}

export async function copy(text, what) {
  await attempt(() => navigator.clipboard.writeText(text), `${what} copied`);
}

export function dialog(title, content, actions) {
  const box = h('dialog', { 'aria-label': title, onclose: () => box.remove() },
    h('h2', {}, title), content,
    h('div', { class: 'row' }, h('span', { class: 'space' }), button('Close', () => box.close()), actions ? actions(() => box.close()) : null));
  document.body.append(box);
  box.showModal();
  return box;
}

export function confirmed(question, word, work) {
  dialog(question, h('p', {}), close =>
    button(word, () => { close(); work(); }, { class: 'danger' }));
}
