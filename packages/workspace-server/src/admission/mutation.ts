import {
  ApiError,
  isApiError,
  isJsonObject,
  type KubeObject,
  normalizeMetadata,
  quote,
} from "@virtual-workspaces/apimachinery";
import { cloneJson, equalJson } from "@virtual-workspaces/apimachinery/json";
import { applyJsonPatch } from "@virtual-workspaces/apimachinery/patch";
import { type Attributes, withoutCluster } from "../webhooks/attributes.ts";
import type { Candidate } from "../webhooks/match.ts";
import type { WebhookCalls } from "./webhook-calls.ts";

/** Kubernetes calls webhooks again once. */
const ROUNDS = 2;

/**
 * Calls mutating webhooks one after the other; each sees the changes of those before it. Those with the `reinvocationPolicy`
 * IfNeeded are called once more when a later one has changed the object.
 *
 * @returns the object, if it has changed
 * @throws ApiError of a rejection, a failed call or a wrong patch
 */
export async function mutated(
  candidates: readonly Candidate[],
  attributes: Attributes,
  calls: WebhookCalls,
): Promise<KubeObject | undefined> {
  let isChanged = false;
  const [called, again] = [new Set<Candidate>(), new Set<Candidate>()];
  for (let round = 0; round < ROUNDS; round++) {
    for (const candidate of candidates) {
      if (round > 0 && !again.has(candidate)) continue;
      if (!(await calls.matches(candidate, attributes))) continue;
      if (await callOne({ candidate, attributes, calls, place: `round_${round}_index_${candidate.index}` })) {
        isChanged = true;
        for (const earlier of called) again.add(earlier);
        called.clear();
      }
      if (candidate.webhook.isReinvoked) called.add(candidate);
    }
    if (again.size === 0) break;
  }
  const { object, request } = attributes;
  if (!isChanged || object === undefined) return undefined;
  return request.operation === "CREATE" ? withoutCluster(object) : object;
}

interface Call {
  readonly candidate: Candidate;
  readonly attributes: Attributes;
  readonly calls: WebhookCalls;
  readonly place: string;
}

/** Calls one webhook, and applies its patch. @returns whether the object has changed */
async function callOne({ candidate, attributes, calls, place }: Call): Promise<boolean> {
  const { webhook } = candidate;
  const { audit } = attributes.request;
  const about = { configuration: webhook.configuration, webhook: webhook.name };
  const failedOpen = `failed-open.mutation.webhook.admission.k8s.io/${place}`;
  let isChanged = false;
  try {
    const { patch } = (await calls.ask(candidate, attributes, failedOpen)) ?? {};
    if (patch === undefined || (Array.isArray(patch) && patch.length === 0)) return false;
    const before = attributes.object;
    if (before === undefined)
      throw ApiError.internalError(
        `admission webhook ${quote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    const next = patched({ candidate, attributes }, before, patch);
    isChanged = !equalJson(next, before);
    attributes.object = next;
    const recorded = JSON.stringify({ ...about, patch, patchType: "JSONPatch" });
    audit?.annotate(`patch.webhook.admission.k8s.io/${place}`, recorded, "Request");
    return isChanged;
  } finally {
    audit?.annotate(`mutation.webhook.admission.k8s.io/${place}`, JSON.stringify({ ...about, mutated: isChanged }));
  }
}

/** Returns the object after a patch, with defaults, in the version of the request. @throws ApiError 500 for a wrong patch */
function patched(
  { candidate: { webhook, version }, attributes }: Omit<Call, "calls" | "place">,
  before: KubeObject,
  patch: unknown,
): KubeObject {
  const by = `admission webhook ${quote(webhook.name)}`;
  try {
    const result = cloneJson(applyJsonPatch(attributes.as(before, version), patch)) as KubeObject;
    if (!isJsonObject(result) || !isJsonObject((result as Record<string, unknown>)["metadata"]))
      throw ApiError.badRequest("the result is not an object with metadata");
    normalizeMetadata(result as never);
    const fixed = changedIdentity(result, attributes.as(before, version) ?? before);
    if (fixed !== undefined) throw ApiError.internalError(`${by} attempted to change ${fixed}, which is not supported`);
    const next = attributes.as(result, attributes.request.definition) ?? result;
    attributes.keepCluster(next);
    attributes.request.conform(next);
    return next;
  } catch (error) {
    if (!isApiError(error) || error.code === 500) throw error;
    throw ApiError.internalError(`${by} returned a patch that cannot be applied: ${error.status.message}`);
  }
}

/** Returns a field that a patch must not change, since the request was authorized for it. A generated name may be set. */
function changedIdentity(next: KubeObject, before: KubeObject): string | undefined {
  if (next.apiVersion !== before.apiVersion) return "apiVersion";
  if (next.kind !== before.kind) return "kind";
  const fields = (["name", "namespace", "uid", "resourceVersion"] as const).filter(
    (field) => field !== "name" || before.metadata.name !== undefined,
  );
  const changed = fields.find((field) => next.metadata[field] !== before.metadata[field]);
  return changed && `metadata.${changed}`;
}
