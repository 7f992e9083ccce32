import type { AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";
import { matchedVersion } from "./request-match.ts";
import type { Webhook } from "./webhook.ts";

/** Webhook whose rules match a request. */
export interface Candidate {
  readonly webhook: Webhook;
  /** Place among all webhooks of the phase. */
  readonly index: number;
  /** Version in which it gets the object. */
  readonly version: ResourceDefinition;
}

const NONE: readonly Candidate[] = Object.freeze([]);

/** Returns the webhooks whose rules match. Cheap, because most webhooks match few requests. */
export function candidatesOf(webhooks: readonly Webhook[], request: AdmitRequest): readonly Candidate[] {
  let found: Candidate[] | undefined;
  for (const [index, webhook] of webhooks.entries()) {
    const version = matchedVersion(webhook, request);
    if (version === undefined) continue;
    found ??= [];
    found.push({ webhook, index, version });
  }
  return found ?? NONE;
}
