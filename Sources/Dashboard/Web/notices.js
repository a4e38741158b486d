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

const wordsOf = error => sentence(String(error.message || error));

/* What a part of the page shows when it can't be had. */
export function failed(title, error, again) {
  return empty(error instanceof Unreachable ? 'No answer' : title, wordsOf(error), h('p', {}, button('Try again', again)));
}

/* What went wrong, by the place where it stands: beside a field, or below a form or a row of buttons. What is drawn again says it again;
   the next attempt there ends it, and so does another pane. */
const problems = new Map();

const idOf = place => `problem-${place.replaceAll(' ', '-')}`;

/* Where that stands. A field that is described by it, by its id, is marked as wrong with it. */
export function problemAt(place) {
  return h('p', { class: 'problem', id: idOf(place), 'data-problem': place, hidden: !problems.has(place) }, problems.get(place));
}

/* Says at its place what went wrong, or with nothing to say that all is well; answers whether somebody can see it. */
export function problem(place, error) {
  if (error === undefined) problems.delete(place); else problems.set(place, wordsOf(error));
  const shown = document.querySelectorAll(`[data-problem="${CSS.escape(place)}"]`);
  for (const each of shown) {
    /* Read out when it comes, but not each time that its part is drawn again. */
    each.setAttribute('role', 'alert');
    each.hidden = error === undefined;
    each.textContent = problems.get(place) ?? '';
  }
  for (const field of document.querySelectorAll(`[aria-describedby~="${CSS.escape(idOf(place))}"]`)) {
    if (error === undefined) field.removeAttribute('aria-invalid'); else field.setAttribute('aria-invalid', 'true');
  }
  return shown.length > 0;
}

export const forgetProblems = () => problems.clear();

/* Does something for a button; what goes wrong is told at its place, or in passing if that is no longer there. */
export async function attempt(place, work, done) {
  problem(place);
  try {
    const result = await work();
    if (done) toast(done);
    return result;
  } catch (error) {
    if (!problem(place, error)) { problem(place); toast(wordsOf(error)); }
    return undefined;
  }
}

/* Where a page may not write to the clipboard, as without TLS beyond loopback, a person copies by hand. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    const area = h('textarea', { rows: 8, readonly: true, 'aria-label': what, value: text });
    dialog(`${what}: copy it by hand`, [h('p', { class: 'small' }, 'The browser does not let this page use the clipboard. The text below is selected: copy it with the keyboard.'), area]);
    area.select();
  }
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
