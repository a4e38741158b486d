"use strict";
// What a provider was seen to do against Apple's advice.

/** A finding as the console tells of it, with whom it is about beside the rest. */
function finding({ provider, first, last, faults, ...told }) {
  return {
    ...told, ...provider, first: new Date(first), last: new Date(last),
    faults: Object.fromEntries(faults.map(({ name, count }) => [name, count])),
  };
}

/** The worst first, once providers have sent all that they will. */
async function listFindings(console, filters) {
  await console.post("/api/v1/advice/complete");
  const { findings } = await console.get("/api/v1/advice", filters);
  return findings.map(finding);
}

module.exports = { finding, listFindings };
