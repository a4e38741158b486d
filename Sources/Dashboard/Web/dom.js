/* Elements. Text is only ever set as text, so no payload can become markup. */

export const $ = id => document.getElementById(id);

/* An element: attributes, handlers (onclick…), children as nodes or text. */
export function h(tag, attributes, ...children) {
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

export function show(container, ...children) { container.replaceChildren(...children.flat(9).filter(Boolean)); }

/* Draws a part of the page again and leaves the keyboard where it was: what has the same data-key is the same to a person. What was
   scrolled stays so. */
export function redraw(area, draw) {
  const active = area.contains(document.activeElement) ? document.activeElement : null;
  const scrolled = Array.from(area.querySelectorAll('[data-key]')).filter(each => each.scrollTop).map(each => [each.dataset.key, each.scrollTop]);
  const find = key => area.querySelector(`[data-key="${CSS.escape(key)}"]`);
  draw();
  for (const [key, top] of scrolled) { const again = find(key); if (again) again.scrollTop = top; }
  if (!active || active.isConnected) return;
  const again = active.dataset.key ? find(active.dataset.key) : null;
  (again || area).focus({ preventScroll: true });
  if (again && active.selectionStart !== undefined && active.selectionStart !== null) again.setSelectionRange(active.selectionStart, active.selectionEnd);
}

export function button(label, work, attributes) {
  return h('button', { type: 'button', onclick: work, ...attributes }, label);
}

/* Text that may be long, as an element of two lines, with a button for the rest where there is some. */
export function clamped(tag, text) {
  const element = h(tag, { class: 'clamp' }, text);
  const more = button('more', () => {
    const isWhole = element.classList.toggle('whole');
    more.textContent = isWhole ? 'less' : 'more';
    more.setAttribute('aria-expanded', String(isWhole));
  }, { class: 'plain', hidden: true, 'aria-expanded': 'false' });
  new ResizeObserver(() => {
    if (!element.classList.contains('whole')) more.hidden = element.scrollHeight <= element.clientHeight;
  }).observe(element);
  return [element, more];
}

export const isNarrow = () => matchMedia('(max-width: 52rem)').matches;

export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

export function empty(title, ...hints) {
  return h('div', { class: 'empty' }, h('h2', {}, title), hints.map(hint => typeof hint === 'string' ? h('p', {}, hint) : hint));
}

/* On a narrow page each row becomes a card, whose cells say what they are. */
export function table(heads, rows) {
  for (const row of rows) Array.from(row.children).forEach((cell, index) => { if (heads[index]) cell.dataset.label = heads[index]; });
  return h('div', { class: 'scroll' }, h('table', {},
    h('thead', {}, h('tr', {}, heads.map(head => h('th', { scope: 'col' }, head)))), h('tbody', {}, rows)));
}

export function cells(...values) { return values.map(value => h('td', {}, value === null || value === undefined ? '' : value)); }
