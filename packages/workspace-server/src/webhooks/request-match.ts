import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  everyLabel,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";
import type { AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { WebhookRule } from "../kinds/webhook-configuration.ts";
import type { Attributes } from "./attributes.ts";

/** Labels of a namespace of the request's logical cluster. @throws ApiError 404 if it does not exist */
export type NamespaceLabels = (cluster: string, namespace: string) => Awaitable<Labels>;

type Labels = Readonly<Record<string, string>>;

/** Rules and selectors for requests. */
export interface RequestMatch {
  readonly rules: readonly MatchRule[];
  /** Whether rules also match other versions of the same resource. */
  readonly isEquivalent: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Rule for requests. */
export interface MatchRule extends WebhookRule {
  /** Names of the objects. @default all */
  readonly resourceNames?: readonly string[];
}

/** Returns a selector; validation rejects invalid ones. @default for every label */
export function selectorOf(selector: LabelSelectorObject | undefined): LabelSelector {
  return selector === undefined ? everyLabel : labelSelectorFromObject(selector);
}

/** Whether a rule may match writes of a resource, or of a subresource, in any version. */
export function mayMatch(rules: readonly MatchRule[], { group, plural }: ResourceDefinition): boolean {
  const isFor = (text: string): boolean => [plural, "*"].includes(text.split("/", 1)[0] ?? "");
  return rules.some(({ apiGroups, resources }) => has(apiGroups, group) && resources.some(isFor));
}

/** Returns the version of the kind that a rule matches: that of the request if possible. */
export function matchedVersion(
  { rules, isEquivalent }: Pick<RequestMatch, "rules" | "isEquivalent">,
  { definition, operation, subresource, versions, object, oldObject }: AdmitRequest,
): ResourceDefinition | undefined {
  const matches = (rule: MatchRule, one: ResourceDefinition): boolean =>
    has(rule.apiGroups, one.group) &&
    hasResource(rule, one.plural, subresource) &&
    has(rule.apiVersions, one.version) &&
    has(rule.operations, operation) &&
    hasScope(rule, definition) &&
    hasName(rule, (object ?? oldObject)?.metadata.name);
  if (rules.some((rule) => matches(rule, definition))) return definition;
  if (!isEquivalent || versions === undefined) return undefined;
  for (const rule of rules) {
    const found = versions.definitions.find((one) => matches(rule, one));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether the selectors match. @throws ApiError 404 for a missing namespace */
export async function isSelected(
  { objectSelector, namespaceSelector }: Pick<RequestMatch, "objectSelector" | "namespaceSelector">,
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

function hasName({ resourceNames = [] }: MatchRule, name = ""): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
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
