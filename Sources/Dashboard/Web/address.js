/* Where one is: #pane/argument?name=value&…, so that a reload, a link and the browser's buttons lead to the same. */
import { changed } from './store.js';

/* Pane, argument and words of an address; null if its signs make no sense. */
export function readAddress(hash) {
  const [way, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  let parts;
  try { parts = way.split('/').map(decodeURIComponent); } catch { return null; }
  if (parts.length > 2) return null;
  return { pane: parts[0] || 'notifications', argument: parts[1], words: Object.fromEntries(new URLSearchParams(query)) };
}

/* The address of a pane; words without a value are left out. */
export function addressOf(pane, argument, words = {}) {
  const query = new URLSearchParams(Object.entries(words).filter(([, value]) => value)).toString();
  return `#${pane}${argument ? `/${encodeURIComponent(argument)}` : ''}${query ? `?${query}` : ''}`;
}

/* What each pane was asked for last, so that its link leads back to that. */
const asked = {};

export const lastAddress = pane => addressOf(pane, null, asked[pane]);

/* Keeps in the address what a pane shows: the argument, the words that stay when it is left, and those that go with the argument. What a
   person chose is a step to go back from. What keys pass over, and each letter of a search, is none: it takes the place of the one before. */
export function noteAddress(pane, argument, stays, goes = {}, isStep = false) {
  asked[pane] = stays;
  const address = addressOf(pane, argument, { ...stays, ...goes });
  if (address === location.hash || (address === '#notifications' && location.hash === '')) return;
  /* A browser refuses too many at a time; the next one says it too. */
  try { history[isStep ? 'pushState' : 'replaceState'](null, '', address); } catch { return; }
  changed('other');
}
