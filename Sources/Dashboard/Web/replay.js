/* Sends a notification again. */
import { api, limits } from './api.js';
import { bytesOf, refusalOf, textOf } from './format.js';
import { attempt, problem, toast } from './notices.js';
import { editProblem, pushOf, replayProblem } from './resend.js';
import { drafts } from './send.js';
import { changed, keep } from './store.js';

export async function replay(notification) {
  const why = replayProblem(notification);
  if (why) { problem('replay', why); return undefined; }
  const again = await attempt('replay', () => api('POST', '/api/v1/push', pushOf(notification), limits.push));
  if (!again) return undefined;
  keep(again);
  changed('notifications');
  toast(again.verdict.accepted ? `Replayed as #${again.id}: ${again.state}` : `Replayed as #${again.id}: ${refusalOf(again)}`);
  return undefined;
}

export function editAndReplay(notification) {
  const why = editProblem(notification);
  if (why) { problem('replay', why); return; }
  drafts.push = { ...pushOf(notification), text: textOf(bytesOf(notification.payloadBase64)) };
  location.hash = '#send';
}
