/* A fault rule as a form beside the JSON and the command that make the same rule. The JSON is what is added: the form writes it, and shows
   what is written there as far as it has fields for it. */
import { commandBlock, postCommand } from './commands.js';
import { $, button, h, show } from './dom.js';
import { blank, moments, problemOf, ruleOf, settingOf, stateOf, textOfRule } from './faultform.js';
import { copy, problem, problemAt } from './notices.js';

/* Stays as it is when somebody comes back: the JSON, null while the form has no rule; what is in the form, and the fields that may say what
   is wrong. */
const draft = {
  text: textOfRule({ name: 'mine', match: { interface: 'provider' }, when: { next: 2 }, effect: { reason: 'ServiceUnavailable' } }), state: blank(), touched: new Set(),
};

const idOf = path => `fault-${path}`;
const jsonId = idOf('json');

const noRule = 'No rule yet. Fill in the missing fields and correct the marked ones.';

/* The editor: its element, which is to be shown before it `begin`s; `add` takes a rule to the emulator, and `names` says which there are. */
export function faultEditor(form, { add, names }) {
  /* `rule` is what is added, undefined while there is none. */
  const view = { form, add, names, inputs: new Map(), rows: [], rule: undefined, misfit: null, isBroken: false };
  view.json = h('textarea', { id: jsonId, rows: 8, spellcheck: 'false', 'aria-label': 'Rule as JSON', 'aria-describedby': `problem-${jsonId}`, placeholder: noRule, value: draft.text ?? '', oninput: () => { draft.text = view.json.value; takeText(view); } });
  view.copy = button('Copy', () => copy(view.json.value, 'Rule'), { 'aria-label': 'Copy the JSON' });
  view.curl = h('div', {});
  view.apart = h('p', { class: 'warn small', role: 'status', hidden: true });
  view.giveUp = button('Use the form instead', () => { takeForm(view, null); view.json.focus(); }, { hidden: true });
  view.isOn = h('input', { id: idOf('enabled'), type: 'checkbox', oninput: () => takeForm(view, null) });
  view.submit = h('button', { class: 'primary' }, 'Add');
  view.element = h('form', { class: 'fault-editor', 'aria-label': 'Rule', novalidate: true, onsubmit: event => { event.preventDefault(); submit(view); } },
    h('div', {}, formPart(view)),
    h('div', { class: 'same' }, h('div', { class: 'row' }, h('h4', {}, 'As JSON'), h('span', { class: 'space' }), view.copy),
      view.json, problemAt(jsonId), view.apart, view.giveUp, h('h4', {}, 'As a command'), view.curl,
      h('div', { class: 'row add' }, view.submit, h('label', { class: 'inline' }, view.isOn, ` ${form.isOn.title}`)), problemAt(idOf('rule'))));
  view.fill = rule => { draft.text = view.json.value = textOfRule(settingOf(rule)); draft.touched.clear(); takeText(view); };
  view.begin = () => { fillForm(view); if (draft.text === null) takeForm(view, null); else takeText(view); };
  view.look = () => { view.submit.textContent = names().includes(view.rule ? view.rule.name : draft.state.values.name) ? 'Replace' : 'Add'; };
  return view;
}

function formPart(view) {
  const { form } = view;
  const way = h('select', { id: idOf('when'), oninput: () => takeForm(view, null) }, form.when.map(each => h('option', { value: each.name }, each.title)));
  view.way = way;
  return [
    h('fieldset', {}, h('legend', {}, 'Match'), h('p', { class: 'faint small' }, 'All fields that you fill in must match. An empty field matches anything.'), h('div', { class: 'entries' }, form.match.map(field => entry(view, field)))),
    h('fieldset', {}, h('legend', {}, 'When'), h('div', { class: 'entries' }, h('div', { class: 'entry' }, h('label', { for: idOf('when') }, 'Inject it'), way),
      form.when.flatMap(each => each.fields.map(field => entry(view, field, () => way.value === each.name))))),
    h('fieldset', {}, h('legend', {}, 'Effect'), h('p', { class: 'faint small' }, 'Choose one or more.'), problemAt(idOf('effect')),
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

/* What a choice says that nobody has made. */
const unchosen = ({ path, words, isNeeded }) => isNeeded ? 'Choose…' : path.startsWith('match.') ? 'Any' : words[0] === true ? 'No' : 'Default';

/* A label, the field and what is wrong with it, which is there while it is to be filled in. */
function entry(view, field, isShown = () => true) {
  const { path, title, hint, kind } = field;
  const id = `${idOf(path)}-value`;
  const shared = { id, 'aria-label': field.spoken, 'aria-describedby': `hint-${id} problem-${idOf(path)}`, oninput: () => takeForm(view, path) };
  const input = kind === 'words' ? h('select', shared, h('option', { value: '' }, unchosen(field)), field.words.map(word => h('option', { value: String(word) }, word === true ? 'Yes' : String(word))))
    : h('input', { ...shared, autocomplete: 'off', spellcheck: 'false', ...{ time: { type: 'datetime-local', step: 1 }, whole: { inputmode: 'numeric' }, number: { inputmode: 'decimal' } }[kind] });
  const element = h('div', { class: 'entry' }, title ? h('label', { for: id }, title) : null, input, h('span', { class: 'faint small hint', id: `hint-${id}` }, hint), problemAt(idOf(path)));
  view.inputs.set(path, input);
  view.rows.push({ field, isShown, element });
  return element;
}

/* What is in the form is written as JSON, once nothing is wrong with it: the rule without that would match more than was meant. `path` is of
   the field that somebody is at: that one may say what is wrong. */
function takeForm(view, path) {
  if (path) draft.touched.add(path);
  const values = Object.fromEntries(view.rows.map(({ field }) => [field.path, view.inputs.get(field.path).value]));
  const chosen = view.form.effects.map(({ name }) => name).filter(name => view.inputs.get(name).checked);
  draft.state = { values, way: view.way.value, chosen, isOn: view.isOn.checked };
  const { rule, problems } = ruleOf(view.form, draft.state);
  Object.assign(view, { misfit: null, isBroken: false, rule: Object.keys(problems).length ? undefined : rule });
  draft.text = view.rule ? textOfRule(rule) : null;
  view.json.value = draft.text ?? '';
  problem(jsonId);
  tell(view, problems);
}

/* What is written as JSON is shown in the form, as far as it fits. While it is no JSON the form waits, lest a click there replaces it. */
function takeText(view) {
  let rule;
  try { rule = JSON.parse(draft.text); } catch (error) {
    Object.assign(view, { misfit: null, isBroken: true, rule: undefined });
    problem(jsonId, `This is not JSON: ${error.message}`);
    return tell(view, {});
  }
  const { state = blank(), misfit = null } = stateOf(view.form, rule);
  draft.state = state;
  fillForm(view);
  const problems = misfit === null ? ruleOf(view.form, state).problems : {};
  Object.assign(view, { misfit, isBroken: false, rule: Object.keys(problems).length ? undefined : rule });
  problem(jsonId);
  return tell(view, problems);
}

function fillForm(view) {
  const { values, chosen, way, isOn } = draft.state;
  for (const { field } of view.rows) view.inputs.get(field.path).value = values[field.path] ?? '';
  for (const { name } of view.form.effects) view.inputs.get(name).checked = chosen.includes(name);
  view.way.value = way;
  view.isOn.checked = isOn;
}

/* Everything beside the fields: what is wrong, what is there to be filled in, the command. */
function tell(view, problems) {
  for (const { field, isShown, element } of view.rows) {
    element.hidden = !isShown();
    problem(idOf(field.path), isShown() && draft.touched.has(field.path) ? problems[field.path] : undefined);
  }
  problem(idOf('effect'), draft.touched.has('effect') || draft.state.chosen.length ? problems.effect : undefined);
  problem(idOf('rule'));
  for (const input of [...view.inputs.values(), view.way, view.isOn]) input.disabled = view.isBroken;
  view.apart.textContent = view.isBroken ? 'Correct the JSON to use the form again.'
    : view.misfit !== null ? `The form has no field for ${view.misfit}. The rule is added as the JSON says. A change in the form replaces the JSON.` : '';
  view.apart.hidden = view.apart.textContent === '';
  view.giveUp.hidden = !view.isBroken;
  view.copy.disabled = view.json.value === '';
  show(view.curl, view.rule === undefined ? h('p', { class: 'faint small' }, noRule) : commandBlock(postCommand('/api/v1/faults', view.rule)));
  view.look();
}

async function submit(view) {
  if (view.isBroken) return view.json.focus();
  if (view.rule === undefined) return point(view);
  problem(idOf('rule'));
  try { await view.add(view.rule); } catch (error) { refused(view, error); }
  return undefined;
}

/* Says beside each field what is wrong with it, and goes to the first. */
function point(view) {
  const { problems } = ruleOf(view.form, draft.state);
  for (const path of Object.keys(problems)) draft.touched.add(path);
  tell(view, problems);
  const first = view.rows.find(({ field }) => field.path in problems);
  (first ? view.inputs.get(first.field.path) : $(idOf(view.form.effects[0].path))).focus();
}

/* The emulator's own words, beside the field they are about, or beside the JSON that has what no field does. */
function refused(view, error) {
  const { path, text } = problemOf(view.form, String(error.message || error));
  if (view.misfit !== null) problem(jsonId, error);
  else if (path) { problem(idOf(path), text); view.inputs.get(path)?.focus(); } else problem(idOf('rule'), error);
}
