import { isDeepStrictEqual } from "node:util";
import type { Client } from "@virtual-workspaces/client";
import { ACCEPTED_CONDITION, markFalse, markTrue, PathMapping } from "@virtual-workspaces/kcp";
import type { Verdict } from "./judge.ts";

/** What is to be told of an object. */
export interface Told {
  /** None: it is gone. */
  readonly object: PathMapping | undefined;
  readonly verdict: Verdict | undefined;
  readonly signal: AbortSignal;
}

type Known = Exclude<Verdict, { readonly kind: "unknown" }>;
type Conditions = NonNullable<PathMapping["status"]>["conditions"];

/**
 * Writes what became of objects into their statuses, where that says something else. Once for each verdict: of front proxies that judge
 * differently, since their mapping files do, none takes back what another one said.
 */
export class Statuses {
  readonly #client: Client;
  readonly #said = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** @throws what the write throws, a conflict above all: then it is to be told again */
  async tell(name: string, { object, verdict, signal }: Told): Promise<void> {
    if (object === undefined) this.#said.delete(name);
    if (object === undefined || verdict === undefined || verdict.kind === "unknown") return;
    const { metadata, status } = object;
    const text = JSON.stringify([metadata.uid, verdict.kind === "accepted" || verdict]);
    if (this.#said.get(name) === text) return;
    const conditions = conditionsOf(status?.conditions, verdict);
    if (!isDeepStrictEqual(conditions, status?.conditions)) {
      const { resourceVersion = "" } = metadata;
      const patch = { metadata: { resourceVersion }, status: { conditions } };
      await this.#client.resource(PathMapping).status.mergePatch(name, patch, { signal });
    }
    this.#said.set(name, text);
  }
}

function conditionsOf(before: Conditions, verdict: Known): NonNullable<Conditions> {
  const [type, now] = [ACCEPTED_CONDITION, new Date()];
  if (verdict.kind === "accepted") return markTrue(before, type, now);
  const { reason, message } = verdict;
  return markFalse(before, { type, severity: "Error", reason, message }, now);
}
