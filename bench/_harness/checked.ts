import assert from "node:assert/strict";
import { type Answer, fetchOnce } from "./http.ts";

/** What is asked of a server, and what its answer has to hold. */
export interface Checked {
  readonly port: number;
  readonly request: Buffer;
  readonly body: Buffer;
}

/** The answer of one of several servers, which must be 200 and have the bytes that the upstream has. */
export async function checked(name: string, { port, request, body }: Checked): Promise<Answer> {
  const found = await fetchOnce(port, request);
  assert.equal(found.status, 200, `${name}: ${found.body}`);
  assert.ok(found.body.equals(body), `${name} sends other bytes than the upstream`);
  return found;
}
