/* The page that shows the API and lets one try it: made from the description, so that the two can't differ. */
import { api } from './api.js';
import { $, button, empty, h, show } from './dom.js';
import { attempt, copy, problemAt } from './notices.js';
import { quote } from './shell.js';

/* Longest answer that is shown, in characters: more would stop the browser. */
const shownLimit = 200000;

const pretty = value => typeof value === 'string' ? value : JSON.stringify(value, null, 2);

function readable(text) {
  try { return pretty(JSON.parse(text)); } catch { return text; }
}

function bodyOf(operation) {
  const content = operation.requestBody ? Object.entries(operation.requestBody.content)[0] : null;
  return content ? { type: content[0], example: content[1].example } : null;
}

/* Path parts and what a request can't do without are filled in; the rest is shown as a hint. */
function inputs(operation) {
  return (operation.parameters || []).map((parameter, index) => {
    const example = parameter.example === undefined ? '' : String(parameter.example);
    const isFilled = parameter.in !== 'query';
    const choices = parameter.schema.enum;
    const id = `${operation.operationId}-${index}`;
    const field = choices
      ? h('select', { id }, h('option', { value: '' }, ''), choices.map(choice => h('option', { value: choice, selected: isFilled && choice === example }, choice)))
      : h('input', { id, value: isFilled ? example : '', placeholder: example, autocomplete: 'off', spellcheck: 'false' });
    return {
      parameter, field,
      nodes: [
        h('label', { for: id }, h('code', {}, parameter.name), parameter.required ? '' : h('span', { class: 'faint small' }, ` ${parameter.in}`)),
        field, parameter.description ? h('span', { class: 'faint small' }, parameter.description) : null,
      ],
    };
  });
}

function request(path, method, fields, body, type) {
  const headers = {};
  const query = new URLSearchParams();
  let target = path;
  for (const { parameter, field } of fields) {
    const value = field.value;
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value === '') continue;
    else if (parameter.in === 'query') query.append(parameter.name, value);
    else headers[parameter.name] = value;
  }
  if (query.size) target += `?${query}`;
  const options = { method: method.toUpperCase(), headers };
  if (body) {
    options.body = body;
    headers['content-type'] = type;
  }
  return { target, options };
}

function curl({ target, options }) {
  const words = ['curl', '-i', '-X', options.method];
  for (const [name, value] of Object.entries(options.headers)) words.push('-H', quote(`${name}: ${value}`));
  if (options.body) words.push('--data-binary', quote(options.body));
  return [...words, quote(location.origin + target)].join(' ');
}

/* Sends, and shows what comes as it comes: a stream has no end. */
async function send(asked, box, stop) {
  const start = performance.now();
  const status = h('p', { class: 'small' }, 'Waiting for the answer…');
  const text = h('pre', { tabindex: '0' });
  show(box, h('h3', {}, 'Answer'), status, text);
  box.className = 'sent';
  try {
    const response = await fetch(asked.target, { ...asked.options, signal: stop.signal });
    const type = response.headers.get('content-type') || 'no body';
    show(status,
      h('span', { class: `badge ${response.ok ? 'good' : 'bad'}` }, String(response.status)),
      ` ${type}, ${Math.round(performance.now() - start)} ms`);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let whole = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      whole += decoder.decode(value, { stream: true });
      if (whole.length > shownLimit) {
        stop.abort();
        whole = `${whole.slice(0, shownLimit)}\n… cut off here; curl shows all of it`;
        break;
      }
      if (type.startsWith('text/event-stream')) text.textContent = whole;
    }
    text.textContent = type.startsWith('application/json') ? readable(whole) : whole;
  } catch (error) {
    if (error.name !== 'AbortError') show(status, h('span', { class: 'badge bad' }, 'no answer'), ` ${error.message}`);
  }
}

function trial(path, method, operation) {
  const fields = inputs(operation);
  const body = bodyOf(operation);
  const area = body ? h('textarea', { rows: Math.min(16, pretty(body.example ?? '').split('\n').length + 1), 'aria-label': 'Body', spellcheck: 'false', value: pretty(body.example ?? '') }) : null;
  const box = h('div', { 'aria-live': 'polite' });
  let stop = null;
  const asked = () => request(path, method, fields, area ? area.value : '', body ? body.type : '');
  return [
    fields.length ? h('div', { class: 'inputs' }, fields.map(field => field.nodes)) : null,
    body ? h('p', { class: 'small faint' }, `Body, ${body.type}`) : null, area,
    h('div', { class: 'row' },
      button('Send', () => {
        if (stop) stop.abort();
        stop = new AbortController();
        send(asked(), box, stop);
      }, { class: 'primary' }),
      button('Stop', () => { if (stop) stop.abort(); }),
      button('Copy as curl', () => copy(curl(asked()), 'Command'))),
    box,
  ];
}

function answers(operation) {
  return h('div', { class: 'answers' }, h('h3', {}, 'Answers'), Object.entries(operation.responses).map(([status, response]) => {
    const content = Object.entries(response.content || {})[0];
    const head = [h('span', { class: `badge ${status < 400 ? 'good' : 'bad'}` }, status), ` ${response.description}`];
    if (!content || content[1].example === undefined) return h('p', { class: 'small' }, head);
    return h('details', { class: 'small' }, h('summary', {}, head), h('pre', { tabindex: '0' }, pretty(content[1].example)));
  }));
}

function operationOf(path, method, operation) {
  const inside = h('div', {});
  return h('details', {
    class: 'operation', id: operation.operationId,
    ontoggle: () => { if (!inside.firstChild) show(inside, trial(path, method, operation), answers(operation)); },
  }, h('summary', {}, h('span', { class: `verb ${method}` }, method.toUpperCase()), h('code', {}, path), h('span', { class: 'faint' }, operation.summary)), inside);
}

async function begin() {
  const description = await api('GET', '/api/v1/openapi.json');
  const all = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => operationOf(path, method, operation)));
  const search = h('input', { type: 'search', placeholder: 'Filter by path, method or words', 'aria-label': 'Filter', oninput: () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const each of all) {
      const text = each.firstChild.textContent.toLowerCase();
      each.hidden = !words.every(word => text.includes(word));
    }
  } });
  const example = bodyOf(description.paths['/api/v1/import'].post).example;
  show($('main'), search,
    h('p', { class: 'small faint' },
      'Requests go to this emulator and take effect. The examples use a phone and an app, which may not exist yet: ',
      button('Create them', () => attempt('make-it', () => api('POST', '/api/v1/import', example), 'Phone and app created')), problemAt('make-it')),
    all);
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) wanted.open = true;
}

begin().catch(error => show($('main'), empty('The description of the API could not be loaded', String(error.message || error))));
