import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { WebhookRule } from "../kinds/webhook-configuration.ts";
import type { Attributes } from "./attributes.ts";
import type { Webhook } from "./webhook.ts";

/** Labels of a namespace of the request's logical cluster. @throws ApiError 404 if it does not exist */
export type NamespaceLabels = (cluster: string, namespace: string) => Awaitable<Labels>;

type Labels = Readonly<Record<string, string>>;

/** Returns the version in which a webhook gets the object; `undefined` if its rules or selectors do not match. */
export async function matchedVersion(
  webhook: Webhook,
  attributes: Attributes,
  labelsOf: NamespaceLabels,
): Promise<ResourceDefinition | undefined> {
  const definition = matchedRule(webhook, attributes);
  if (definition === undefined) return undefined;
  if (!webhook.objectSelector.empty && !matchesObject(webhook.objectSelector, attributes)) return undefined;
  if (webhook.namespaceSelector.empty) return definition;
  const labels = await namespaceLabels(attributes, labelsOf);
  return labels === undefined || webhook.namespaceSelector.matches(labels) ? definition : undefined;
}

function matchedRule(
  { rules, isEquivalent }: Webhook,
  { request: { definition, operation, subresource, versions } }: Attributes,
): ResourceDefinition | undefined {
  const candidates = rules.filter((rule) => has(rule.operations, operation) && hasScope(rule, definition));
  if (candidates.length === 0) return undefined;
  const matches = (rule: WebhookRule, one: ResourceDefinition): boolean =>
    has(rule.apiGroups, one.group) && has(rule.apiVersions, one.version) && hasResource(rule, one.plural, subresource);
  if (candidates.some((rule) => matches(rule, definition))) return definition;
  if (!isEquivalent || versions === undefined) return undefined;
  for (const rule of candidates) {
    const found = versions.definitions.find((one) => matches(rule, one));
    if (found !== undefined) return found;
  }
  return undefined;
}

function has(values: readonly string[], wanted: string): boolean {
  return values.includes("*") || values.includes(wanted);
}

function hasScope({ scope = "*" }: WebhookRule, definition: ResourceDefinition): boolean {
  return scope === "*" || scope === definition.scope;
}

function hasResource({ resources }: WebhookRule, plural: string, subresource: string): boolean {
  return resources.some((text) => {
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
