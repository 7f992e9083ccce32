import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { WebhookRule } from "../kinds/webhook-configuration.ts";
import type { Attributes } from "./attributes.ts";
import type { Webhook } from "./webhook.ts";

/** Labels of a namespace of the request's logical cluster. @throws ApiError 404 if it does not exist */
export type NamespaceLabels = (cluster: string, namespace: string) => Awaitable<Labels>;

type Labels = Readonly<Record<string, string>>;

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

function matchedVersion(
  { rules, isEquivalent }: Webhook,
  { definition, operation, subresource, versions }: AdmitRequest,
): ResourceDefinition | undefined {
  const matches = (rule: WebhookRule, one: ResourceDefinition): boolean =>
    has(rule.apiGroups, one.group) &&
    hasResource(rule, one.plural, subresource) &&
    has(rule.apiVersions, one.version) &&
    has(rule.operations, operation) &&
    hasScope(rule, definition);
  if (rules.some((rule) => matches(rule, definition))) return definition;
  if (!isEquivalent || versions === undefined) return undefined;
  for (const rule of rules) {
    const found = versions.definitions.find((one) => matches(rule, one));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether the selectors of a webhook match. @throws ApiError 404 for a missing namespace */
export async function isSelected(
  { objectSelector, namespaceSelector }: Webhook,
  attributes: Attributes,
  labelsOf: NamespaceLabels,
): Promise<boolean> {
  if (!objectSelector.empty && !matchesObject(objectSelector, attributes)) return false;
  if (namespaceSelector.empty) return true;
  const labels = await namespaceLabels(attributes, labelsOf);
  return labels === undefined || namespaceSelector.matches(labels);
}

function has(values: readonly string[], wanted: string): boolean {
  return values.includes("*") || values.includes(wanted);
}

function hasScope({ scope = "*" }: WebhookRule, definition: ResourceDefinition): boolean {
  return scope === "*" || scope === definition.scope;
}

function hasResource({ resources }: WebhookRule, plural: string, subresource: string): boolean {
  return resources.some((text) => {
    if (text === plural) return subresource === "";
    const [resource = "", sub = ""] = text.split("/", 2);
    return (resource === "*" || resource === plural) && (sub === "*" || sub === subresource);
  });
}

function matchesObject(selector: LabelSelector, { object, oldObject }: Attributes): boolean {
  const matches = (one: KubeObject | undefined): boolean =>
    one !== undefined && selector.matches(one.metadata.labels ?? {});
  return matches(object) || matches(oldObject);
}

/** Namespaces have their own labels; `undefined` for other cluster-scoped objects, which always match. */
function namespaceLabels(
  { request: { definition }, cluster, namespace, object, oldObject }: Attributes,
  labelsOf: NamespaceLabels,
): Awaitable<Labels | undefined> {
  if (definition.group === "" && definition.plural === "namespaces")
    return (object ?? oldObject)?.metadata.labels ?? {};
  return namespace === "" ? undefined : labelsOf(cluster, namespace);
}
