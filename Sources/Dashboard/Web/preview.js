/* What a phone would do with a push that came in: as the emulator explains it. */
import { questions } from './api.js';
import { empty, h, show } from './dom.js';
import { choices, draftOf, explained, notJSON, nothingToExplain, outcome } from './explain.js';
import { failed } from './notices.js';
import { partProblem } from './resend.js';

/* The phone that is looked at stays the same from push to push. */
const phone = { appState: 'suspended', ios: '26' };

export function previewPanel(notification) {
  if (notification.truncated) return empty('No preview', partProblem(notification));
  const area = h('div', { class: 'explain' }, h('p', { class: 'faint' }, 'Loading…'));
  const draft = draftOf(notification);
  if (!draft.text) return nothingToExplain();
  const ask = questions();
  const draw = async () => {
    const isNewest = ask();
    try {
      const answer = await explained({ ...draft, ...phone });
      if (isNewest()) show(area, notJSON(answer) ? h('p', { class: 'bad' }, notJSON(answer)) : null, outcome(answer, notification.topic || 'app'));
    } catch (error) {
      if (isNewest()) show(area, failed('No preview', error, draw));
    }
  };
  draw();
  return [
    notification.verdict.accepted ? null : h('p', { class: 'warn' }, 'This push was rejected, so no device receives it. The preview shows what a phone would do.'),
    h('div', { class: 'row settings' }, choices(phone, ['appState', 'ios'], draw), h('a', { class: 'button', href: `#explain/${notification.id}` }, 'Explain')), area,
    notification.collapseId ? h('p', { class: 'faint small' }, `It replaces an earlier notification with the collapse ID ${notification.collapseId}.`) : null];
}
