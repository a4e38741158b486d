"use strict";
// What providers have sent, and how to wait for it.

const { ConsoleError } = require("./console.js");

// How many are asked for at once.
const page = 1000;

/** No such push came in time; says what came instead, and what about it did not fit. */
class NoPush extends Error {
  name = "NoPush";
}

/** A push as the console tells of it, with its verdict beside the rest. */
function push(told) {
  const { accepted, status, reason, explanation, fault } = told.verdict;
  return {
    ...told, accepted, status, reason, explanation, fault: fault?.name ?? fault,
    receivedAt: new Date(told.receivedAt), expiration: told.expiration && new Date(told.expiration),
    rawPayload: Buffer.from(told.payloadBase64, "base64"),
  };
}

/** All that fit, oldest first. */
async function listPushes(console, filters) {
  const found = [];
  let since = filters.since;
  for (;;) {
    const { notifications, next } = await console.get("/api/v1/notifications", { ...filters, since, limit: page });
    found.push(...notifications.map(push));
    if (next === null || notifications.length === 0) return found;
    since = next;
  }
}

/** Waits until so many fit; those that came before count too. */
async function waitForPushes(console, count, { timeout = 5000, ...match }) {
  try {
    const body = { match, count, timeoutMs: Math.round(timeout) };
    const { notifications } = await console.request("POST", "/api/v1/notifications/wait", body, timeout + 30_000);
    return notifications.map(push);
  } catch (error) {
    if (!(error instanceof ConsoleError) || error.status !== 408) throw error;
    throw new NoPush(await disappointment(error.body, count, timeout, match, console));
  }
}

async function disappointment({ notifications, nearMisses }, count, timeout, match, console) {
  const lines = [`${notifications.length} of ${count} pushes came within ${timeout} ms (${JSON.stringify(match)})`];
  lines.push(...notifications.slice(-5).map((told) => `  came: ${summary(told)}`));
  for (const { notification, failed } of nearMisses) {
    lines.push(`  near: ${summary(notification)}`, `        ${failed.map(misfit).join("; ")}`);
  }
  if (lines.length > 1) return lines.join("\n");
  const latest = (await listPushes(console, {})).slice(-5);
  return lines.concat(latest.map((told) => `  else: ${summary(told)}`)).join("\n") + (latest.length ? "" : ", and nothing else did");
}

const misfit = ({ filter, expected, actual }) => `${filter} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;

function summary({ id, topic, udid, token, verdict, state, payload }) {
  const outcome = verdict.accepted ? "accepted" : verdict.reason ?? "no answer";
  const text = JSON.stringify(payload);
  const short = text.length > 80 ? text.slice(0, 79) + "…" : text;
  return `#${id} ${topic ?? "no topic"} to ${udid ?? token.slice(0, 8) + "…"}: ${outcome}, ${state}, ${short}`;
}

module.exports = { NoPush, listPushes, push, waitForPushes };
