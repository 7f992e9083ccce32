import assert from "node:assert/strict";
import type { Bare } from "../_servers/bare.ts";
import { type Answer, fetchOnce } from "./http.ts";
import type { Remote } from "./remote.ts";

/** Of Node's own making in every server. */
const NODES_OWN = /^(date|connection|keep-alive)$/i;

/**
 * Lets the bare handler answer as another server did: the same bytes under headers of the same names.
 *
 * @returns what it then answers, after a look at whether that is so
 */
export async function mimic(
  bare: Remote<Bare>,
  original: Answer,
  at: { port: number; request: Buffer },
): Promise<Answer> {
  const headers = original.headers.filter(([name]) => !NODES_OWN.test(name));
  await bare.ask("use", { headers: Object.fromEntries(headers), body: original.body });
  const copy = await fetchOnce(at.port, at.request);
  assert.ok(copy.body.equals(original.body), "the bare handler sends other bytes");
  assert.deepEqual(names(copy), names(original));
  return copy;
}

function names({ headers }: Answer): string[] {
  return headers.map(([name]) => name).sort();
}
