/* States and tokens as small elements. */
import { h } from './dom.js';
import { stateClass } from './format.js';

/* A whole token: in one line, in halves where that is too wide, on a phone in quarters. */
export const tokenText = token => h('code', { class: 'token' }, (token.match(/.{1,32}/g) || []).map(half => h('span', {}, half.match(/.{1,16}/g).map(part => h('span', {}, part)))));

/* The beginning and the end of a token, for where there is room for no more; all of it where the mouse rests. */
export const shortToken = token => h('code', { class: 'small', title: token }, `${token.slice(0, 8)}…${token.slice(-6)}`);

export const stateBadge = state => h('span', { class: `badge ${stateClass[state] || ''}` }, state);
export const onlineDot = isOnline => h('span', { class: `dot ${isOnline ? 'on' : ''}` }, isOnline ? 'online' : 'offline');
