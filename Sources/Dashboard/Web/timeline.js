/* How far a notification came, and when. */
import { h } from './dom.js';
import { clockTime, duration, sentence } from './format.js';
import { evidence } from './happenings.js';

const hops = ['provider', 'gateway', 'store', 'device', 'phone'];

export function timelinePanel(notification) {
  const events = notification.timeline.map(step => step.event);
  const reached = new Set(['provider', 'gateway']);
  if (events.includes('stored')) reached.add('store');
  if (events.includes('sent') || events.includes('acknowledged')) reached.add('device');
  if (notification.timeline.some(step => step.rule)) reached.add('phone');
  const way = hops.filter(hop => hop !== 'phone' || reached.has(hop)).map((hop, index) => [
    index ? h('span', { class: `arrow ${reached.has(hop) ? 'on' : ''}`, 'aria-hidden': 'true' }, '→') : null,
    h('span', { class: `hop ${reached.has(hop) ? 'on' : ''} ${hop === 'gateway' && !notification.verdict.accepted ? 'end' : ''}` },
      hop === 'gateway' ? { gateway: 'gateway', provider: 'provider API', console: 'console' }[notification.interface] : hop)]);
  const start = Date.parse(notification.timeline[0].at);
  return [h('div', { class: 'way', role: 'group', 'aria-label': 'Path of the push' }, way), h('ol', { class: 'steps' }, notification.timeline.map(step =>
    h('li', {}, h('span', { class: 'faint mono' }, clockTime(step.at)), h('strong', {}, step.event),
      h('span', {}, step.detail, h('span', { class: 'faint' }, Date.parse(step.at) > start ? `  +${duration(Date.parse(step.at) - start)}` : ''),
        step.rule ? h('div', { class: 'small' }, sentence(step.reason), ' ', h('code', { class: 'rule' }, step.rule), ' ', evidence(step.evidence)) : null)))),
    reached.has('phone') && notification.udid ? h('p', {}, h('a', { class: 'button', href: `#phone/${notification.udid}` }, 'Open the phone')) : null];
}
