/* Sends a notification again. */
import { api, limits } from './api.js';
import { bytesOf, refusalOf, textOf } from './format.js';
import { attempt, toast } from './notices.js';
import { pushOf, replayProblem } from './resend.js';
import { drafts } from './send.js';
import { changed, keep } from './store.js';

export async function replay(notification) {
  const problem = replayProblem(notification);
  if (problem) return toast(problem);
  const again = await attempt(() => api('POST', '/api/v1/push', pushOf(notification), limits.push));
  if (!again) return undefined;
  keep(again);
  changed('notifications');
  toast(again.verdict.accepted ? `Replayed as #${again.id}: ${again.state}` : `Replayed as #${again.id}: ${refusalOf(again)}`);
  return undefined;
}

export function editAndReplay(notification) {
  const problem = replayProblem(notification);
  if (problem) { toast(problem); return; }
  drafts.push = { ...pushOf(notification), text: textOf(bytesOf(notification.payloadBase64)) };
  location.hash = '#send';
}
