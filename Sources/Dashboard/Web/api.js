/* Requests to the emulator. */
import { duration } from './format.js';

/* Times in milliseconds, and rows of a page. An answer: longer than the longest list takes. A push: a fault may delay its
   answer. The reader of the stream: for one message between tabs. Again: as often as a person would try. */
export const limits = { answer: 10000, push: 300000, reader: 2000, again: 3000, tokens: 10000, devices: 1000 };

/* Nobody answers; that is no fault of the request. */
export class Unreachable extends Error {}

/* A request to the API; an error answer is thrown with the server's own sentence. */
export async function api(method, path, body, timeout = limits.answer) {
  const options = { method, signal: AbortSignal.timeout(timeout) };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch (error) {
    throw new Unreachable(error.name === 'TimeoutError' ? `The emulator did not answer within ${duration(timeout)}.` : 'The emulator can’t be reached.');
  }
  let document = null;
  try { document = JSON.parse(text); } catch { /* not every answer has a body */ }
  if (!response.ok) {
    throw new Error(document?.error ? document.error.message : `the emulator answered ${response.status}`);
  }
  return document;
}

export const path = (...parts) => '/api/v1/' + parts.map(encodeURIComponent).join('/');

/* Says of a question whether it is still the newest: an answer that was overtaken is of no interest. */
export function questions() {
  let newest = null;
  return () => {
    const question = {};
    newest = question;
    return () => newest === question;
  };
}
