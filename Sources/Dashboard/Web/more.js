/* What stands below a list that is longer than what is shown of it. */
import { button, h } from './dom.js';
import { attempt, problemAt } from './notices.js';

/* Below a list: how much of it is there, and more of it. */
export function moreRow(view, found, { loaded, next, all, load }, draw) {
  const isPart = next !== null && next !== undefined;
  if (found <= view.most && !isPart) return null;
  const more = () => attempt('more', async () => {
    view.most += view.step;
    if (isPart && view.most > found) await load(loaded + 1);
    draw();
  });
  const words = `Showing ${Math.min(found, view.most).toLocaleString('en')} of ${found.toLocaleString('en')}`
    + (isPart ? `; ${loaded.toLocaleString('en')}${all > loaded ? ` of ${all.toLocaleString('en')}` : ''} are loaded, oldest first` : '');
  return h('div', { class: 'row more' }, h('span', { class: 'faint' }, words), button('Show more', more), problemAt('more'));
}
