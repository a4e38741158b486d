/* A fault rule as a form. Which fields there are, and what may stand in them, the API's description says; the tables below say how a
   person calls them. No elements. */

/* Name, what it does or how it is counted, and what is expected where a pattern says it. A field that is not here goes by its name in the
   API. */
const words = {
  name: ['Name', 'Replaces a rule of the same name. Empty: the emulator chooses a name', '1 to 64 characters from A-Z a-z 0-9 . _ -'],
  enabled: ['Enabled', ''],
  'match.interface': ['Interface', 'The listener that received it'],
  'match.topic': ['Topic', 'The whole topic, for example com.example.app'],
  'match.token': ['Device token', 'The whole token in hexadecimal digits', 'hexadecimal digits, two per byte'],
  'match.priority': ['Priority', ''],
  'match.connection': ['Connection', 'The client’s host:port, as listed under Connections'],
  'when.next': ['How many times', 'Injected this many times, then never again'],
  'when.every': ['Every nth time', 'For example 3: the 3rd, the 6th, the 9th …'],
  'when.nth': ['Which time', 'For example 50: the 50th, and no other'],
  'when.probability': ['Probability', '0 to 1, drawn from --seed'],
  'when.from': ['From', 'UTC of the emulator’s clock. Empty: no start'],
  'when.to': ['Until', 'UTC of the emulator’s clock. Empty: no end'],
  'effect.reason': ['Reason', 'Rejects the push with this reason and its status'],
  'effect.delayMs': ['Delay', 'Takes and answers the push after this many milliseconds'],
  'effect.jitterMs': ['Jitter', 'Adds up to this many milliseconds, drawn from --seed'],
  'effect.dribble': ['Dribble', 'Sends the answers in small pieces'],
  'effect.dribble.bytes': ['Bytes per piece', 'Empty: 1'],
  'effect.dribble.everyMs': ['Milliseconds between pieces', 'Empty: 100'],
  'effect.legacy': ['Error packet', 'Rejects the push with this status. Over HTTP: the reason for it'],
  'effect.legacy.status': ['Status', '0 to 255, for example 8 (invalid token)'],
  'effect.legacy.identifier': ['Identifier', 'Empty: as Apple’s gateway would answer'],
  'effect.reset': ['TCP reset', 'Ends the connection with a TCP RST, without an answer'],
  'effect.rstStream': ['RST_STREAM', 'Error code, for example 7 (REFUSED_STREAM). Without HTTP/2: a TCP RST'],
  'effect.garbage': ['Garbage', 'Sends this many meaningless bytes instead of an answer'],
  'effect.goaway': ['GOAWAY', 'Ends the connection, after the answer if there is one'],
  'effect.goaway.reason': ['GOAWAY reason', 'For example Shutdown. Empty: none'],
  'effect.goaway.lastStream': ['Last stream', 'judged (default): the push is above it. zero: nothing was taken. highest: the push and all others are answered'],
  'effect.goaway.keepsOpen': ['Keeps the connection open', 'Resets later streams with REFUSED_STREAM'],
  'effect.halfClose': ['Half close', 'Ends the emulator’s side, after the answer if there is one'],
  'effect.taken': ['Taken first', 'Delivers the push, then breaks the connection. Choose how it breaks, too'],
  'effect.streamLimit': ['Stream limit', 'Allows this many streams at a time from this push on. Without HTTP/2: no effect'],
  'effect.stall': ['Stall', 'Keeps the connection open. Nothing more is read or written'],
  'effect.tlsAlert': ['TLS alert', 'Fails the handshake with this alert, for example 44 (certificate_revoked)'],
  'effect.refuse': ['Refuse', 'Closes the connection at once with a TCP RST'],
  'effect.initialStreamLimit': ['First stream limit', 'Allows this many streams at a time. Without HTTP/2: no effect'],
  'effect.courier': ['Device’s connection', 'drop: resets it. stall: sends nothing more. The notification stays stored'],
};

const ways = { always: 'Every time', next: 'The next few times', every: 'Every nth time', nth: 'Once, the nth time', probability: 'By chance', from: 'In a period of time' };

/* The moments at which something goes wrong; a rule is about one of them. What is not named here goes wrong at a push. */
export const moments = { push: 'A push or a channel management request', connection: 'A new connection', delivery: 'A delivery to a device' };
const otherMoments = { tlsAlert: 'connection', refuse: 'connection', initialStreamLimit: 'connection', courier: 'delivery' };

const titled = path => { const [title, hint, expected] = words[path] || [path.split('.').at(-1), '']; return { path, title, hint, expected }; };

function fieldOf(path, schema, isNeeded) {
  const { type, minimum, maximum, pattern, format } = schema;
  /* False is what is not said, so a flag has one word. */
  const choices = type === 'boolean' ? [true] : schema.enum;
  const kind = choices ? 'words' : format === 'date-time' ? 'time' : { integer: 'whole', number: 'number' }[type] || 'text';
  return { ...titled(path), kind, words: choices, minimum, maximum, pattern, isNeeded };
}

const fieldsOf = (path, { properties, required = [] }) =>
  Object.entries(properties || {}).map(([name, schema]) => fieldOf(`${path}.${name}`, schema, required.includes(name)));

function effectOf(name, schema) {
  const path = `effect.${name}`;
  const isFlag = schema.type === 'boolean', isObject = schema.type === 'object';
  return { ...titled(path), name, moment: otherMoments[name] || 'push', isFlag, isObject, fields: isFlag ? [] : isObject ? fieldsOf(path, schema) : [fieldOf(path, schema, true)] };
}

/* The form that the API's description asks for. */
export function formOf(description) {
  const { name, match, when, effect } = description.components.schemas.FaultRequest.properties;
  const spans = when.oneOf.filter(each => each.properties).map(each => ({ fields: fieldsOf('when', each), isAnyNeeded: each.minProperties > 0 }));
  return {
    name: fieldOf('name', name, false), isOn: titled('enabled'), match: fieldsOf('match', match),
    when: [{ name: 'always', fields: [] }, ...spans.map(span => ({ name: nameOf(span.fields[0]), ...span }))].map(each => ({ ...each, title: ways[each.name] || each.name })),
    effects: Object.entries(effect.properties).map(([each, schema]) => effectOf(each, schema)),
  };
}

const nameOf = ({ path }) => path.slice(path.lastIndexOf('.') + 1);

/* What is in the form where nothing was written: texts by the paths of fields, the way to say when, and names of effects. */
export const blank = () => ({ values: {}, isOn: true, way: 'always', chosen: [] });

const spell = value => JSON.stringify(value);
const wanted = {
  words: field => `one of ${field.words.join(', ')}`, whole: field => `a number from ${field.minimum} to ${field.maximum}`,
  number: field => `a number from ${field.minimum} to ${field.maximum}`, time: () => 'a time', text: field => field.expected || 'a text',
};

/* The value that a field's text stands for, undefined for none; throws what is wrong with it, as the API would say it. */
function valueIn(field, text = '') {
  if (text === '') {
    if (field.isNeeded) throw new Error(`expected ${wanted[field.kind](field)}, got nothing`);
    return undefined;
  }
  const value = readers[field.kind](field, text);
  if (value === undefined) throw new Error(`expected ${wanted[field.kind](field)}, got ${spell(text)}`);
  return value;
}

const within = ({ minimum, maximum }, value) => value >= minimum && value <= maximum ? value : undefined;
const readers = {
  words: (field, text) => field.words.find(word => String(word) === text),
  whole: (field, text) => /^[+-]?\d+$/.test(text) ? within(field, Number(text)) : undefined,
  number: (field, text) => text.trim() === '' ? undefined : within(field, Number(text)),
  text: (field, text) => !field.pattern || new RegExp(field.pattern).test(text) ? text : undefined,
  time: (_, text) => { const time = new Date(`${text}Z`); return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace('.000Z', 'Z'); },
};

/* A value as it stands in a field: times as an input for local times has them. */
const textOf = (field, value) => {
  if (field.kind !== 'time') return String(value);
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? String(value) : time.toISOString().replace(/(\.000)?Z$/, '');
};

/* The rule that the form describes, as a request writes it, and what is wrong, by the paths of fields. What is wrong is not in the rule. */
export function ruleOf(form, state) {
  const problems = {};
  const put = (target, fields) => {
    for (const field of fields) {
      try {
        const value = valueIn(field, state.values[field.path]);
        if (value !== undefined) target[nameOf(field)] = value;
      } catch (error) { problems[field.path] = error.message; }
    }
    return target;
  };
  const rule = put({}, [form.name]);
  const match = put({}, form.match);
  if (Object.keys(match).length) rule.match = match;
  const way = form.when.find(each => each.name === state.way);
  if (way.fields.length) rule.when = put({}, way.fields);
  if (way.isAnyNeeded && !Object.keys(rule.when).length && !way.fields.some(({ path }) => path in problems)) problems[way.fields[0].path] = 'expected from, to or both, got neither';
  rule.effect = effectsOf(form, state, put, problems);
  if (!state.isOn) rule.enabled = false;
  return { rule, problems };
}

function effectsOf(form, { chosen }, put, problems) {
  const effect = {};
  const all = form.effects.filter(({ name }) => chosen.includes(name));
  for (const { name, isFlag, isObject, fields } of all) {
    if (isFlag) effect[name] = true; else if (isObject) effect[name] = put({}, fields); else put(effect, fields);
  }
  const of = Array.from(new Set(all.map(({ moment }) => moment)));
  if (!all.length) problems.effect = 'choose one or more effects';
  else if (of.length > 1) problems.effect = `expected effects of one kind, got ${all.map(({ title }) => title).join(', ')}; add a rule for each kind`;
  return effect;
}

/* The form that describes a rule, or the path of what no field has room for. */
export function stateOf(form, rule) {
  const state = blank();
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return { misfit: 'this JSON' };
  const take = (source, fields) => { for (const field of fields) if (source?.[nameOf(field)] !== undefined) state.values[field.path] = textOf(field, source[nameOf(field)]); };
  take(rule, [form.name]);
  take(rule.match, form.match);
  const way = form.when.find(({ fields }) => fields.some(field => rule.when?.[nameOf(field)] !== undefined));
  if (way) { state.way = way.name; take(rule.when, way.fields); }
  for (const { name, isFlag, isObject, fields } of form.effects) {
    const value = rule.effect?.[name];
    if (value === undefined || (isFlag && value !== true)) continue;
    state.chosen.push(name);
    if (isObject) take(value, fields); else if (!isFlag) take(rule.effect, fields);
  }
  state.isOn = rule.enabled !== false;
  /* What the form would make of it says whether all of it is there. */
  const misfit = lost(settingOf(rule), ruleOf(form, state).rule, '');
  return misfit === null ? { state } : { misfit };
}

/* A rule as it is written, from one as the API tells it: without its counts, and what goes without saying. */
export function settingOf({ hits, seen, ...rule }) {
  if (rule.enabled === true) delete rule.enabled;
  if (rule.when === null) delete rule.when;
  if (rule.match && spell(rule.match) === '{}') delete rule.match;
  return rule;
}

/* The path of the first value that is missing in a copy, or another there; null if there is none. */
function lost(value, copy, path) {
  const isObject = each => typeof each === 'object' && each !== null && !Array.isArray(each);
  if (!isObject(value) || !isObject(copy)) return sameValue(value, copy) ? null : path;
  for (const [name, part] of Object.entries(value)) {
    const found = lost(part, copy[name], path ? `${path}.${name}` : name);
    if (found !== null) return found;
  }
  return null;
}

/* Times are the same in any zone and precision. */
const sameValue = (one, other) => spell(one) === spell(other) || (typeof other === 'string' && /^\d{4}-.*Z$/.test(other) && Date.parse(one) === Date.parse(other));

/* As a person writes it: a line for each part. */
export function textOfRule(rule) {
  return `{\n${Object.entries(rule).map(([name, value]) => `  ${spell(name)}: ${spell(value)}`).join(',\n')}\n}`;
}

/* What the API says is wrong, as the path of the field that it is about, or of the part that has it, and the rest of the sentence; without a
   path where it is about no part. */
export function problemOf(form, message) {
  const [, path, text] = /^([A-Za-z.]+): (.*)$/s.exec(message) || [];
  const all = [form.name, ...form.match, ...form.when.flatMap(({ fields }) => fields), ...form.effects, ...form.effects.flatMap(({ fields }) => fields)].map(each => each.path);
  for (let part = path; part; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) if (part === 'effect' || all.includes(part)) return { path: part, text };
  return { text: message };
}
