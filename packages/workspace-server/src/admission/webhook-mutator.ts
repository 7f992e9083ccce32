import { ApiError, isApiError, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import { cloneJson, equalJson } from "@virtual-workspaces/apimachinery/json";
import { applyJsonPatch } from "@virtual-workspaces/apimachinery/patch";
import type { Attributes } from "../webhooks/attributes.ts";
import type { Candidate } from "../webhooks/match.ts";
import { changedObject } from "./changed-object.ts";
import { type Mutator, Reinvocation } from "./reinvocation.ts";
import type { WebhookCalls } from "./webhook-calls.ts";

/** Calls mutating webhooks one after the other; each sees the changes of those before it. */
export class WebhookMutator implements Mutator {
  readonly #candidates: readonly Candidate[];
  readonly #attributes: Attributes;
  readonly #calls: WebhookCalls;
  readonly #reinvocation = new Reinvocation<Candidate>();

  constructor(candidates: readonly Candidate[], attributes: Attributes, calls: WebhookCalls) {
    this.#candidates = candidates;
    this.#attributes = attributes;
    this.#calls = calls;
  }

  /** @throws ApiError of a rejection, a failed call or a wrong patch */
  async run(round: number): Promise<boolean> {
    const reinvocation = this.#reinvocation;
    let isChanged = false;
    reinvocation.begin(round, this.#attributes.object);
    for (const candidate of this.#candidates) {
      if (!reinvocation.includes(round, candidate)) continue;
      if (!(await this.#calls.matches(candidate, this.#attributes))) continue;
      if (await this.#call(candidate, `round_${round}_index_${candidate.index}`)) {
        isChanged = true;
        reinvocation.changed();
      }
      if (candidate.webhook.isReinvoked) reinvocation.called(candidate);
    }
    reinvocation.end(this.#attributes.object);
    return isChanged;
  }

  /** Calls one webhook, and applies its patch. @returns whether the object has changed */
  async #call(candidate: Candidate, place: string): Promise<boolean> {
    const attributes = this.#attributes;
    const { webhook } = candidate;
    const { audit } = attributes.request;
    const about = { configuration: webhook.configuration, webhook: webhook.name };
    const failedOpen = `failed-open.mutation.webhook.admission.k8s.io/${place}`;
    let isChanged = false;
    try {
      const { patch } = (await this.#calls.ask(candidate, attributes, failedOpen)) ?? {};
      if (patch === undefined || (Array.isArray(patch) && patch.length === 0)) return false;
      const before = attributes.object;
      if (before === undefined)
        throw ApiError.internalError(
          `admission webhook ${quote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
        );
      const next = this.#patched(candidate, before, patch);
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
  #patched({ webhook, version }: Candidate, before: KubeObject, patch: unknown): KubeObject {
    const by = `admission webhook ${quote(webhook.name)}`;
    try {
      const next = cloneJson(applyJsonPatch(this.#attributes.as(before, version), patch)) as KubeObject;
      return changedObject(this.#attributes, { version, before, next, by });
    } catch (error) {
      if (!isApiError(error) || error.code === 500) throw error;
      throw ApiError.internalError(`${by} returned a patch that cannot be applied: ${error.status.message}`);
    }
  }
}
