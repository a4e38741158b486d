/* A fault rule as a form beside the JSON and the command that make the same rule. The JSON is what is added: the form writes it, and shows
   what is written there as far as it has fields for it. */
import { commandBlock, postCommand } from './commands.js';
import { $, button, h, show } from './dom.js';
import { blank, moments, problemOf, ruleOf, settingOf, stateOf, textOfRule } from './faultform.js';
import { copy, problem, problemAt } from './notices.js';

/* Stays as it is when somebody comes back. */
const draft = { text: textOfRule({ name: 'mine', match: { interface: 'provider' }, when: { next: 2 }, effect: { reason: 'ServiceUnavailable' } }) };

const idOf = path => `fault-${path}`;
const jsonId = idOf('json');

/* The editor: its element, which is to be shown before it `begin`s; `add` takes a rule to the emulator, and `names` says which there are. */
export function faultEditor(form, { add, names }) {
  const view = { form, add, names, inputs: new Map(), rows: [], touched: new Set(), misfit: null };
  view.json = h('textarea', { id: jsonId, rows: 8, spellcheck: 'false', 'aria-label': 'Rule as JSON', 'aria-describedby': `problem-${jsonId}`, value: draft.text, oninput: () => { draft.text = view.json.value; takeText(view); } });
  view.curl = h('div', {});
  view.apart = h('p', { class: 'warn small', role: 'status', hidden: true });
  view.isOn = h('input', { id: idOf('enabled'), type: 'checkbox', oninput: () => takeForm(view, null) });
  view.submit = h('button', { class: 'primary' }, 'Add');
  view.element = h('form', { class: 'fault-editor', 'aria-label': 'Rule', novalidate: true, onsubmit: event => { event.preventDefault(); submit(view); } },
    h('div', {}, formPart(view)),
    h('div', { class: 'same' }, h('div', { class: 'row' }, h('h4', {}, 'As JSON'), h('span', { class: 'space' }), button('Copy', () => copy(view.json.value, 'Rule'), { 'aria-label': 'Copy the JSON' })),
      view.json, problemAt(jsonId), view.apart, h('h4', {}, 'As a command'), view.curl,
      h('div', { class: 'row add' }, view.submit, h('label', { class: 'inline' }, view.isOn, ` ${form.isOn.title}`)), problemAt(idOf('rule'))));
  view.fill = rule => { draft.text = view.json.value = textOfRule(settingOf(rule)); view.touched.clear(); takeText(view); };
  view.begin = () => takeText(view);
  view.look = () => { view.submit.textContent = names().includes(nameIn(draft.text)) ? 'Replace' : 'Add'; };
  return view;
}

const nameIn = text => { try { return JSON.parse(text)?.name; } catch { return undefined; } };

function formPart(view) {
  const { form } = view;
  const way = h('select', { id: idOf('when'), oninput: () => takeForm(view, null) }, form.when.map(each => h('option', { value: each.name }, each.title)));
  view.way = way;
  return [
    h('fieldset', {}, h('legend', {}, 'What it matches'), h('p', { class: 'faint small' }, 'All that is filled in must fit; left empty, anything does.'), h('div', { class: 'entries' }, form.match.map(field => entry(view, field)))),
    h('fieldset', {}, h('legend', {}, 'When'), h('div', { class: 'entries' }, h('div', { class: 'entry' }, h('label', { for: idOf('when') }, 'It applies'), way),
      form.when.flatMap(each => each.fields.map(field => entry(view, field, () => way.value === each.name))))),
    h('fieldset', {}, h('legend', {}, 'What happens'), h('p', { class: 'faint small' }, 'One or several at once.'), problemAt(idOf('effect')),
      Object.entries(moments).map(([moment, title]) => [h('h4', {}, title), h('div', { class: 'effects' }, form.effects.filter(each => each.moment === moment).map(each => effectPart(view, each)))])),
    h('div', { class: 'entries' }, entry(view, form.name))];
}

function effectPart(view, effect) {
  const { path, title, hint, name, fields } = effect;
  const box = h('input', { type: 'checkbox', id: idOf(path), 'aria-describedby': `hint-${path} problem-${idOf(path)}`, oninput: () => takeForm(view, null) });
  view.inputs.set(name, box);
  const isChosen = () => box.checked;
  /* The field of an effect that has but one value is called as the effect is, and says what is wrong with that. */
  const isOne = fields.some(field => field.path === path);
  return h('div', { class: 'effect' }, h('label', {}, box, title), h('p', { class: 'faint small', id: `hint-${path}` }, hint),
    isOne ? null : problemAt(idOf(path)), fields.map(field => entry(view, isOne ? { ...field, title: null, hint: '', spoken: title } : field, isChosen)));
}

/* A label, the field and what is wrong with it, which is there while it is to be filled in. */
function entry(view, field, isShown = () => true) {
  const { path, title, hint, kind } = field;
  const id = `${idOf(path)}-value`;
  const shared = { id, 'aria-label': field.spoken, 'aria-describedby': `hint-${id} problem-${idOf(path)}`, oninput: () => takeForm(view, path) };
  const input = kind === 'words' ? h('select', shared, h('option', { value: '' }, field.isNeeded ? 'choose…' : 'any'), field.words.map(word => h('option', { value: String(word) }, String(word))))
    : h('input', { ...shared, autocomplete: 'off', spellcheck: 'false', ...{ time: { type: 'datetime-local', step: 1 }, whole: { inputmode: 'numeric' }, number: { inputmode: 'decimal' } }[kind] });
  const element = h('div', { class: 'entry' }, title ? h('label', { for: id }, title) : null, input, h('span', { class: 'faint small hint', id: `hint-${id}` }, hint), problemAt(idOf(path)));
  view.inputs.set(path, input);
  view.rows.push({ field, isShown, element });
  return element;
}

/* What is in the form is written as JSON. `path` is of the field that somebody is at: that one may say what is wrong. */
function takeForm(view, path) {
  if (path) view.touched.add(path);
  const values = Object.fromEntries(view.rows.map(({ field }) => [field.path, view.inputs.get(field.path).value]));
  const chosen = view.form.effects.map(({ name }) => name).filter(name => view.inputs.get(name).checked);
  view.state = { values, way: view.way.value, chosen, isOn: view.isOn.checked };
  view.misfit = null;
  draft.text = view.json.value = textOfRule(ruleOf(view.form, view.state).rule);
  problem(jsonId);
  problem(idOf('rule'));
  tell(view);
}

/* What is written as JSON is shown in the form, as far as it fits. */
function takeText(view) {
  let rule;
  problem(jsonId);
  problem(idOf('rule'));
  try { rule = JSON.parse(draft.text); } catch (error) { problem(jsonId, `This is not JSON: ${error.message}`); show(view.curl); return; }
  const { state, misfit = null } = stateOf(view.form, rule);
  view.misfit = misfit;
  view.state = state || blank();
  for (const { field } of view.rows) view.inputs.get(field.path).value = view.state.values[field.path] ?? '';
  for (const { name } of view.form.effects) view.inputs.get(name).checked = view.state.chosen.includes(name);
  view.way.value = view.state.way;
  view.isOn.checked = view.state.isOn;
  tell(view);
}

/* Everything beside the fields: what is wrong, what is there to be filled in, the command. */
function tell(view) {
  const { problems } = ruleOf(view.form, view.state);
  for (const { field, isShown, element } of view.rows) {
    element.hidden = !isShown();
    const text = view.misfit === null && isShown() && view.touched.has(field.path) ? problems[field.path] : undefined;
    problem(idOf(field.path), text);
  }
  problem(idOf('effect'), view.misfit === null && (view.touched.has('effect') || view.state.chosen.length) ? problems.effect : undefined);
  view.apart.hidden = view.misfit === null;
  view.apart.textContent = view.misfit === null ? '' : `The form has no field for ${view.misfit} of the JSON. It is added as it is written there; a change here replaces it.`;
  show(view.curl, commandBlock(postCommand('/api/v1/faults', JSON.parse(draft.text))));
  view.look?.();
}

async function submit(view) {
  let rule;
  try { rule = JSON.parse(draft.text); } catch { view.json.focus(); return; }
  const { problems } = ruleOf(view.form, view.state);
  if (view.misfit === null && Object.keys(problems).length) return point(view, problems);
  problem(idOf('rule'));
  try { await view.add(rule); } catch (error) { refused(view, error); }
  return undefined;
}

/* Says beside each field what is wrong with it, and goes to the first. */
function point(view, problems) {
  for (const path of Object.keys(problems)) view.touched.add(path);
  tell(view);
  const first = view.rows.find(({ field }) => field.path in problems);
  (first ? view.inputs.get(first.field.path) : $(idOf(view.form.effects[0].path))).focus();
}

/* The emulator's own words, beside the field they are about, or beside the JSON that has what no field does. */
function refused(view, error) {
  const { path, text } = problemOf(view.form, String(error.message || error));
  if (view.misfit !== null) problem(jsonId, error);
  else if (path) { problem(idOf(path), text); view.inputs.get(path)?.focus(); } else problem(idOf('rule'), error);
}
