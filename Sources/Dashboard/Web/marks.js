/* States and tokens as small elements. */
import { h } from './dom.js';
import { stateClass } from './format.js';

/* A whole token: in one line, in halves where that is too wide, on a phone in quarters. */
export const tokenText = token => h('code', { class: 'token' }, (token.match(/.{1,32}/g) || []).map(half => h('span', {}, half.match(/.{1,16}/g).map(part => h('span', {}, part)))));

export const stateBadge = state => h('span', { class: `badge ${stateClass[state] || ''}` }, state);
export const onlineDot = isOnline => h('span', { class: `dot ${isOnline ? 'on' : ''}` }, isOnline ? 'online' : 'offline');
