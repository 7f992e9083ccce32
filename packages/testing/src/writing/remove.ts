import { expectJson } from "../assertions/expect.ts";
import { at, type JsonObject, listAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import type { HttpClient } from "../http/client.ts";

export const MERGE_PATCH = "application/merge-patch+json";

/** Object to delete. */
export interface Removed {
  readonly path: string;
  /** Verbs of the resource: finalizers are removed by a patch, or by an update without `patch`. */
  readonly verbs: readonly string[];
}

/**
 * Deletes an object and removes its finalizers. Returns true when the object no longer exists.
 *
 * @throws TransportError
 */
export async function removeObject(client: HttpClient, { path, verbs }: Removed): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await client.call(path, { method: "DELETE", query: { gracePeriodSeconds: 0 } });
    if (answer.status === 404) return true;
    // A user who may not delete may not have created the object either.
    if (answer.status >= 400) return (await client.call(path)).status === 404;
    if (finalizersIn(answer).length > 0) await release(client, { path, verbs });
  }
  return false;
}

/** Removes the finalizers. */
async function release(client: HttpClient, { path, verbs }: Removed): Promise<void> {
  const send = (method: string, type: string, body: unknown): Promise<Answer> =>
    client.call(path, { method, headers: { "content-type": type }, body: JSON.stringify(body) });
  if (verbs.includes("patch")) {
    await send("PATCH", MERGE_PATCH, { metadata: { finalizers: null } });
    return;
  }
  const found = await client.call(path);
  if (found.status !== 200) return;
  const object = expectJson(found);
  const { finalizers: _all, ...metadata } = at(object, "metadata") as JsonObject;
  await send("PUT", "application/json", { ...object, metadata });
}

function finalizersIn(answer: Answer): readonly unknown[] {
  try {
    return listAt(JSON.parse(answer.body.toString("utf8")), "metadata", "finalizers");
  } catch {
    return [];
  }
}
