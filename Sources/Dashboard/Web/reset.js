/* What shall be forgotten. */
import { api } from './api.js';
import { button, h } from './dom.js';
import { loadAll } from './loading.js';
import { attempt, dialog, problem, problemAt } from './notices.js';

/* `then` draws what is left. */
export function resetDialog(then) {
  const parts = ['notifications', 'devices', 'faults', 'clock', 'feedback', 'store', 'channels'];
  const boxes = parts.map(name => h('input', { type: 'checkbox', checked: !['devices', 'channels'].includes(name), value: name }));
  dialog('What shall be forgotten?', h('fieldset', {}, parts.map((name, index) => h('p', {}, h('label', {}, boxes[index], ` ${name}`))), problemAt('reset')), close =>
    button('Reset', () => {
      const what = boxes.filter(box => box.checked).map(box => box.value);
      if (!what.length) { problem('reset', 'choose what shall be forgotten'); return; }
      attempt('reset', async () => { await api('POST', '/api/v1/reset', { what }); close(); await loadAll(); then(); }, `Reset: ${what.join(', ')}`);
    }, { class: 'danger' }));
}
