import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import type { Attributes } from "../webhooks/attributes.ts";
import type { WebhookClient } from "../webhooks/client.ts";
import type { Candidate } from "../webhooks/match.ts";
import type { WebhookOutcome } from "../webhooks/meter.ts";
import { dryRunRejection, rejection, WebhookCallError } from "../webhooks/rejection.ts";
import { isSelected, type NamespaceLabels } from "../webhooks/request-match.ts";
import { conditionValues, encodeReview, type ReviewResponse, readResponse, reviewRequest } from "../webhooks/review.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/** Matches and calls single webhooks, with their failure policies. */
export class WebhookCalls {
  readonly #client: WebhookClient;
  readonly #labelsOf: NamespaceLabels;

  constructor(client: WebhookClient, labelsOf: NamespaceLabels) {
    this.#client = client;
    this.#labelsOf = labelsOf;
  }

  /**
   * Returns whether a webhook is called, by its selectors and match conditions.
   *
   * @throws ApiError 403 when a match condition fails and failures reject, and 404 for a missing namespace
   */
  async matches({ webhook, version }: Candidate, attributes: Attributes): Promise<boolean> {
    if (!(await isSelected(webhook, attributes, this.#labelsOf))) return false;
    if (webhook.conditions.isEmpty) return true;
    try {
      return webhook.conditions.hold(conditionValues(attributes, version));
    } catch (error) {
      if (webhook.isIgnored) return false;
      const { request, name } = attributes;
      const resource = groupResourceOf(request.definition);
      throw ApiError.forbidden({ resource, name, message: (error as Error).message });
    }
  }

  /**
   * Calls a webhook, and passes on its warnings and audit annotations.
   *
   * @param failedOpen key of the audit annotation about an ignored failure
   * @returns the response that allows the request; `undefined` when the call failed and that is ignored
   * @throws ApiError 400 for a dry run of a webhook with side effects, 500 for a failed call, and the webhook's own
   */
  async ask(
    { webhook, version }: Candidate,
    attributes: Attributes,
    failedOpen: string,
  ): Promise<ReviewResponse | undefined> {
    const { request } = attributes;
    if (request.dryRun && webhook.hasSideEffects) throw dryRunRejection(webhook);
    const startedAt = performance.now();
    const ended = (outcome: WebhookOutcome): void => {
      const seconds = (performance.now() - startedAt) / 1000;
      this.#client.meter.observe(webhook.phase, request.operation, { outcome, seconds });
    };
    try {
      const response = await this.#response(webhook, attributes, version);
      for (const [key, value] of Object.entries(response.auditAnnotations))
        request.audit?.annotate(`${webhook.name}/${key}`, value);
      for (const warning of response.warnings) request.warn(warning);
      ended(response.allowed ? "allowed" : "rejected");
      if (!response.allowed) throw rejection(webhook, response);
      return response;
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      ended(webhook.isIgnored ? "ignored" : "failed");
      if (!webhook.isIgnored) throw ApiError.internalError(error.message);
      request.audit?.annotate(failedOpen, webhook.name);
      return undefined;
    }
  }

  async #response(webhook: Webhook, attributes: Attributes, version: ResourceDefinition): Promise<ReviewResponse> {
    const uid = crypto.randomUUID();
    const { version: reviewVersion } = webhook;
    if (reviewVersion === undefined)
      throw new WebhookCallError(
        webhook,
        "could not create admission objects",
        "webhook does not accept known AdmissionReview versions (v1, v1beta1)",
      );
    const body = encodeReview(reviewRequest(attributes, version, uid), reviewVersion);
    const answer = await this.#client.call({ webhook, body, signal: attributes.request.signal });
    try {
      return readResponse(answer, { uid, version: reviewVersion, mutates: webhook.phase === "mutating" });
    } catch (error) {
      throw new WebhookCallError(webhook, "received invalid webhook response", (error as Error).message);
    }
  }
}
