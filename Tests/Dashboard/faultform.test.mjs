import assert from 'node:assert/strict';
import test from 'node:test';
import { blank, formOf, problemOf, ruleOf, settingOf, stateOf, textOfRule } from '../../Sources/Dashboard/Web/faultform.js';

/* As the API describes a rule, with one field of each kind, and an effect that has no words yet. */
const object = (properties, more = {}) => ({ type: 'object', properties, ...more });
const whole = (minimum, maximum) => ({ type: 'integer', minimum, maximum });
const time = { type: 'string', format: 'date-time' };
const form = formOf({ components: { schemas: { FaultRequest: object({
  name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }, enabled: { type: 'boolean' },
  match: object({ interface: { type: 'string', enum: ['gateway', 'provider'] }, topic: { type: 'string' }, priority: { type: 'integer', enum: [1, 5, 10] } }),
  when: { oneOf: [{ type: 'null' }, object({ next: whole(1, 10) }, { required: ['next'] }), object({ probability: { type: 'number', minimum: 0, maximum: 1 } }, { required: ['probability'] }), object({ from: time, to: time }, { minProperties: 1 })] },
  effect: object({ reason: { type: 'string', enum: ['BadTopic', 'Shutdown'] }, delayMs: whole(0, 600), legacy: object({ status: whole(0, 255), identifier: whole(0, 9) }, { required: ['status'] }),
    goaway: object({ reason: { type: 'string' }, lastStream: { type: 'string', enum: ['judged', 'zero'] }, keepsOpen: { type: 'boolean' } }), reset: { type: 'boolean' }, refuse: { type: 'boolean' }, novel: whole(1, 2) }),
}) } } });
const state = more => ({ ...blank(), chosen: ['reset'], ...more });

test('what is written in the form is a rule, whatever kind of field it is in', () => {
  const { rule, problems } = ruleOf(form, state({
    values: { name: 'mine', 'match.interface': 'provider', 'match.topic': '', 'match.priority': '5', 'when.probability': '0.25', 'when.next': '7', 'effect.reason': 'BadTopic', 'effect.delayMs': '0', 'effect.legacy.status': '8' },
    way: 'probability', chosen: ['reason', 'delayMs', 'legacy', 'goaway', 'reset'], isOn: false,
  }));
  assert.deepEqual(problems, {});
  assert.deepEqual(rule, { name: 'mine', match: { interface: 'provider', priority: 5 }, when: { probability: 0.25 }, effect: { reason: 'BadTopic', delayMs: 0, legacy: { status: 8 }, goaway: {}, reset: true }, enabled: false });
});

test('what is wrong is told by its field, and is not in the rule', () => {
  const wrong = (path, text, more) => { const { rule, problems } = ruleOf(form, state({ ...more, values: { [path]: text } })); assert.ok(!JSON.stringify(rule).includes(`"${text}"`)); return problems; };
  assert.match(wrong('name', 'a b').name, /^expected 1 to 64 characters from .*, got "a b"$/);
  assert.match(wrong('effect.delayMs', '601', { chosen: ['delayMs'] })['effect.delayMs'], /^expected a number from 0 to 600, got "601"$/);
  assert.match(wrong('effect.delayMs', '1.5', { chosen: ['delayMs'] })['effect.delayMs'], /got "1.5"$/);
  assert.match(wrong('effect.delayMs', '', { chosen: ['delayMs'] })['effect.delayMs'], /got nothing$/);
  assert.match(wrong('effect.legacy.identifier', '3', { chosen: ['legacy'] })['effect.legacy.status'], /^expected a number from 0 to 255, got nothing$/);
  assert.match(wrong('when.next', '0', { way: 'next' })['when.next'], /from 1 to 10, got "0"$/);
  assert.match(wrong('when.from', '', { way: 'from' })['when.from'], /neither$/);
  /* What is not chosen is of no interest. */
  assert.deepEqual(wrong('effect.delayMs', 'x'), {});
});

test('a rule is about one moment, and has an effect', () => {
  assert.match(ruleOf(form, state({ chosen: [] })).problems.effect, /^choose one or more effects$/);
  assert.match(ruleOf(form, state({ chosen: ['reset', 'refuse'] })).problems.effect, /one kind, got TCP reset, Refuse;/);
  assert.deepEqual(ruleOf(form, state({ chosen: ['refuse'] })).problems, {});
});

test('a rule is shown in the form, and comes out of it as it went in', () => {
  for (const rule of [
    { effect: { reset: true } }, { name: 'x', match: { topic: 'a b', priority: 10 }, when: { next: 3 }, effect: { reason: 'Shutdown', goaway: { reason: 'Shutdown' } } },
    { when: { from: '2026-01-02T03:04:05Z' }, effect: { legacy: { status: 0, identifier: 0 } } }, { when: { to: '2026-01-02T03:04:05.678Z' }, effect: { goaway: {}, novel: 2 }, enabled: false },
    { effect: { goaway: { lastStream: 'zero', keepsOpen: true } } },
  ]) assert.deepEqual(ruleOf(form, stateOf(form, rule).state), { rule, problems: {} });
});

test('times are told in UTC, in whatever zone they came', () => {
  const { state: shown } = stateOf(form, { when: { from: '2026-01-02T05:04:05+02:00' }, effect: { reset: true } });
  assert.equal(shown.values['when.from'], '2026-01-02T03:04:05');
});

test('what no field has room for is named, not lost', () => {
  const misfit = rule => stateOf(form, rule).misfit;
  assert.equal(misfit({ preset: 'flaky' }), 'preset');
  assert.equal(misfit({ effect: { reset: true, other: 1 } }), 'effect.other');
  assert.equal(misfit({ effect: { delayMs: 'soon' } }), 'effect.delayMs');
  assert.equal(misfit({ effect: { reset: false } }), 'effect.reset');
  assert.equal(misfit({ effect: { goaway: { keepsOpen: false } } }), 'effect.goaway.keepsOpen');
  assert.equal(misfit({ when: { next: 1, probability: 0.5 }, effect: { reset: true } }), 'when.probability');
  assert.equal(misfit({ effect: 'reset' }), 'effect');
  for (const nothing of [null, 7, [], 'x']) assert.equal(misfit(nothing), 'this JSON');
});

test('a rule that is told is written without its counts and what goes without saying', () => {
  assert.deepEqual(settingOf({ name: 'x', match: {}, when: null, effect: { reset: true }, enabled: true, hits: 3, seen: 4 }), { name: 'x', effect: { reset: true } });
  assert.deepEqual(JSON.parse(textOfRule({ name: 'x', effect: { goaway: {} } })), { name: 'x', effect: { goaway: {} } });
});

test('a refusal is told at the field that it is about, or at the nearest part that has it', () => {
  assert.deepEqual(problemOf(form, 'match.topic: expected none, as a new connection has no topic yet, got one'), { path: 'match.topic', text: 'expected none, as a new connection has no topic yet, got one' });
  assert.deepEqual(problemOf(form, 'effect.goaway: expected one of reason, got "y"').path, 'effect.goaway');
  assert.equal(problemOf(form, 'effect.unheard.of: no').path, 'effect');
  for (const other of ['there are 1000 rules already', 'match.udid: expected no udid', 'The emulator can’t be reached.']) assert.deepEqual(problemOf(form, other), { text: other });
});

test('an effect without words goes by its name', () => {
  const { title, moment, fields } = form.effects.find(({ name }) => name === 'novel');
  assert.deepEqual([title, moment, fields[0].kind], ['novel', 'push', 'whole']);
});
