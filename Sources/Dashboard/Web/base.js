/* Elements, requests, messages to the user. Text is only ever set as text, so no payload can become markup. */
const $ = id => document.getElementById(id);

/* An element: attributes, handlers (onclick…), children as nodes or text. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

function show(container, ...children) { container.replaceChildren(...children.flat(9).filter(Boolean)); }

function toast(text) {
  const note = h('div', { class: 'toast' }, text);
  $('toasts').append(note);
  setTimeout(() => note.remove(), 6000);
}

/* Times in milliseconds, and rows of a page. An answer: longer than the longest list takes. A push: a fault may delay its
   answer. The reader of the stream: for one message between tabs. Again: as often as a person would try. */
const limits = { answer: 10000, push: 300000, reader: 2000, again: 3000, tokens: 10000, devices: 1000 };

/* Nobody answers; that is no fault of the request. */
class Unreachable extends Error {}

/* A request to the API; an error answer is thrown with the server's own sentence. */
async function api(method, path, body, patience = limits.answer) {
  const options = { method, signal: AbortSignal.timeout(patience) };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch (error) {
    throw new Unreachable(error.name === 'TimeoutError' ? `The emulator did not answer within ${duration(patience)}.` : 'The emulator can’t be reached.');
  }
  let document = null;
  try { document = JSON.parse(text); } catch { /* not every answer has a body */ }
  if (!response.ok) {
    throw new Error(document && document.error ? document.error.message : `the emulator answered ${response.status}`);
  }
  return document;
}

/* What stays until it is mended or read, by its subject. */
const notices = new Map();
function notice(subject, ...content) {
  if (content.length) notices.set(subject, h('div', { class: `notice ${subject}` }, content)); else if (!notices.delete(subject)) return;
  show($('notices'), Array.from(notices.values()));
}

function trouble(error) {
  notice('trouble', h('span', {}, sentence(String(error.message || error)), error instanceof Unreachable ? ' What you see may be out of date; it is tried again every few seconds.' : ''),
    button('Try again', () => { soon('all', loadAll); }));
}

/* What a part of the page shows when it can't be had. */
function failed(title, error, again) {
  return empty(error instanceof Unreachable ? 'No answer' : title, sentence(String(error.message || error)), h('p', {}, button('Try again', again)));
}

/* Does something for a button; what goes wrong is told. */
async function attempt(work, done) {
  try {
    const result = await work();
    if (done) toast(done);
    return result;
  } catch (error) {
    toast(String(error.message || error));
    return undefined;
  }
}

function button(label, work, attributes) {
  return h('button', { type: 'button', onclick: work, ...attributes }, label);
}

async function copy(text, what) {
  await attempt(() => navigator.clipboard.writeText(text), `${what} copied`);
}

function dialog(title, content, actions) {
  const box = h('dialog', { 'aria-label': title, onclose: () => box.remove() },
    h('h2', {}, title), content,
    h('div', { class: 'row' }, h('span', { class: 'space' }), button('Close', () => box.close()), actions ? actions(() => box.close()) : null));
  document.body.append(box);
  box.showModal();
  return box;
}

const isNarrow = () => matchMedia('(max-width: 52rem)').matches;

function confirmed(question, word, work) {
  dialog(question, h('p', {}), close =>
    button(word, () => { close(); work(); }, { class: 'danger' }));
}

function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

function empty(title, ...hints) {
  return h('div', { class: 'empty' }, h('h2', {}, title), hints.map(hint => typeof hint === 'string' ? h('p', {}, hint) : hint));
}

/* On a narrow page each row becomes a card, whose cells say what they are. */
function table(heads, rows) {
  for (const row of rows) Array.from(row.children).forEach((cell, index) => { if (heads[index]) cell.dataset.label = heads[index]; });
  return h('div', { class: 'scroll' }, h('table', {},
    h('thead', {}, h('tr', {}, heads.map(head => h('th', { scope: 'col' }, head)))), h('tbody', {}, rows)));
}

function cells(...values) { return values.map(value => h('td', {}, value === null || value === undefined ? '' : value)); }

const path = (...parts) => '/api/v1/' + parts.map(encodeURIComponent).join('/');
