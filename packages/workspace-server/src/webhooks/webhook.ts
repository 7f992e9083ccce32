import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { MatchConditions } from "@virtual-workspaces/framework/resource";
import { matchConditions } from "../kinds/match-conditions.ts";
import type { WebhookConfigurationContent, WebhookContent } from "../kinds/webhook-configuration.ts";
import { type RequestMatch, selectorOf } from "./request-match.ts";

/** Phase of admission that calls a webhook. */
export type WebhookPhase = "mutating" | "validating";

/** Webhook of a stored configuration, ready to be matched and called. */
export interface Webhook extends RequestMatch {
  readonly phase: WebhookPhase;
  readonly configuration: string;
  readonly name: string;
  readonly conditions: MatchConditions;
  /** Whether a request goes on when the webhook cannot be called. */
  readonly isIgnored: boolean;
  readonly hasSideEffects: boolean;
  /** Whether a mutating webhook is called again after later changes. */
  readonly isReinvoked: boolean;
  /** Time limit of a call, in seconds. */
  readonly timeout: number;
  /** Version of its AdmissionReviews; `undefined` if it knows none of ours. */
  readonly version: "v1" | "v1beta1" | undefined;
  readonly address: WebhookAddress;
}

/** Address of a webhook. */
export interface WebhookAddress {
  readonly url: string;
  /** Authorities that the webhook's certificate must be from, PEM. @default those of Node.js */
  readonly ca: string | undefined;
}

/** Returns the webhooks of a configuration, in their order. */
export function webhooksOf(
  { metadata, webhooks = [] }: KubeObject & WebhookConfigurationContent,
  phase: WebhookPhase,
): readonly Webhook[] {
  return webhooks.map((content) => ({
    phase,
    configuration: metadata.name ?? "",
    name: content.name,
    rules: content.rules ?? [],
    namespaceSelector: selectorOf(content.namespaceSelector),
    objectSelector: selectorOf(content.objectSelector),
    conditions: new MatchConditions(
      matchConditions,
      (content.matchConditions ?? []).map(({ expression }) => expression),
    ),
    isEquivalent: content.matchPolicy !== "Exact",
    isIgnored: content.failurePolicy === "Ignore",
    hasSideEffects: content.sideEffects !== "None" && content.sideEffects !== "NoneOnDryRun",
    isReinvoked: content.reinvocationPolicy === "IfNeeded",
    timeout: content.timeoutSeconds ?? 10,
    version: (content.admissionReviewVersions ?? []).find((one) => one === "v1" || one === "v1beta1"),
    address: addressOf(content),
  }));
}

function addressOf({ clientConfig: { url, service, caBundle } }: WebhookContent): WebhookAddress {
  const ca = caBundle === undefined || caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString("utf8");
  if (service === undefined) return { url: url ?? "", ca };
  const { name, namespace, port = 443, path = "" } = service;
  return { url: `https://${name}.${namespace}.svc:${port}${path.startsWith("/") ? "" : "/"}${path}`, ca };
}
