/* What was sent, and what was said to it. */
import { cells, facts, h, table } from './dom.js';
import { dateTime, outcomeOf, sentence } from './format.js';
import { stateBadge } from './marks.js';
import { isBroadcast } from './resend.js';

export function headersPanel(notification) {
  const to = isBroadcast(notification) ? [['Channel ID', h('code', { class: 'break' }, notification.channelId || '–')]]
    : [['Device token', h('code', { class: 'break' }, notification.token || '–')], ['Device', notification.udid || 'unknown']];
  const sent = [['Topic', notification.topic], ['Environment', notification.environment], ...to, ['Push type', notification.pushType], ['Priority', String(notification.priority)],
    ['Expiration', notification.expiration ? dateTime(notification.expiration) : 'not set: stored for 30 days'],
    ['apns-id', notification.apnsId || '–'], ['Collapse ID', notification.collapseId || '–']];
  if (notification.interface === 'gateway') sent.push(['Command', String(notification.command)], ['Identifier', notification.identifier === null ? 'none in command 0' : String(notification.identifier)]);
  return [facts(sent.map(([name, value]) => [name, value || '–'])),
    notification.headers.length ? [h('h3', {}, 'Header fields'), table(['Name', 'Value'], notification.headers.map(({ name, value }) =>
      h('tr', {}, cells(h('code', {}, name), h('code', { class: 'break' }, value)))))] : h('p', { class: 'faint small' }, 'The binary protocol has no header fields.')];
}

export function verdictPanel(notification) {
  const { accepted, status, reason, legacyStatus, explanation } = notification.verdict;
  const heading = h('p', { class: accepted ? 'good' : 'bad' }, h('strong', {}, outcomeOf(notification)));
  const why = explanation ? h('p', {}, sentence(explanation)) : null;
  if (status === null) return [heading, why, facts([['To the provider', 'no answer'], ['State', stateBadge(notification.state)]])];
  return [heading, why,
    facts([['On HTTP/2', accepted ? '200' : `${status} {"reason":"${reason}"}`],
      ['On the gateway', accepted ? 'no answer' : notification.interface === 'gateway' && notification.command === 0 ? 'connection closed without an error packet (command 0)' : `error packet, status ${legacyStatus}`],
      ['State', stateBadge(notification.state)]])];
}
