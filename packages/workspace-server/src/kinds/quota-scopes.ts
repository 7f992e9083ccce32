import { fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";
import { itemsOf, membersOf } from "./problems.ts";

type Fields = Readonly<Record<string, unknown>>;

const PODS = new Set(["pods"]);
const PODS_AND_COMPUTE: ReadonlySet<string> = new Set([
  ...["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"],
]);

/** Resources by scope that select them. */
const SCOPED: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Terminating", PODS_AND_COMPUTE],
  ["NotTerminating", PODS_AND_COMPUTE],
  ["BestEffort", PODS],
  ["NotBestEffort", PODS_AND_COMPUTE],
  ["PriorityClass", PODS_AND_COMPUTE],
  ["CrossNamespacePodAffinity", PODS_AND_COMPUTE],
  ["VolumeAttributesClass", new Set(["persistentvolumeclaims", "requests.storage"])],
]);
/** Scopes that have no values to compare. */
const PLAIN: ReadonlySet<string> = new Set([
  ...["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"],
]);
const EXCLUSIVE = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;
const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** Whether the spec of a quota has scopes: it then limits nothing, since no object that is counted has one. */
export function hasScopes({ scopes, scopeSelector }: Fields): boolean {
  return itemsOf(scopes).length + requirementsOf(scopeSelector).length > 0;
}

/** Returns Kubernetes' errors of the scopes in the spec of a quota. @param standard whether a name is a standard resource of quotas */
export function scopeProblems(spec: Fields, standard: (name: string) => boolean): StatusCause[] {
  const { hard, scopes, scopeSelector } = spec;
  const named = Array.isArray(scopes) ? scopes.map(String) : [];
  const limited = Object.keys(membersOf(hard)).filter(standard).sort();
  const unfit = (scope: string): string[] => limited.filter((name) => SCOPED.get(scope)?.has(name) === false);
  const invalid = (detail: string): StatusCause => fieldInvalid("spec.scopes", scopes, detail);
  return [
    ...named.flatMap((scope) => [
      ...(SCOPED.has(scope) ? [] : [invalid("unsupported scope")]),
      ...unfit(scope).map(() => invalid("unsupported scope applied to resource")),
    ]),
    ...conflicts(named).map(invalid),
    ...requirementsOf(scopeSelector).flatMap((requirement) => requirementProblems(requirement, scopeSelector, unfit)),
    ...conflicts(requirementsOf(scopeSelector).map(({ scopeName }) => String(scopeName))).map(invalid),
  ];
}

function requirementsOf(selector: unknown): readonly Fields[] {
  return itemsOf(membersOf(selector)["matchExpressions"]);
}

function conflicts(scopes: readonly string[]): string[] {
  return EXCLUSIVE.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() => "conflicting scopes");
}

function requirementProblems(
  { scopeName, operator, values }: Fields,
  selector: unknown,
  unfit: (scope: string) => readonly string[],
): StatusCause[] {
  const at = "spec.scopeSelector.matchExpressions";
  const scope = String(scopeName);
  return [
    ...(SCOPED.has(scope) ? [] : [fieldInvalid(`${at}.scopeName`, scopeName, "unsupported scope")]),
    ...unfit(scope).map(() => fieldInvalid(at, selector, "unsupported scope applied to resource")),
    ...(PLAIN.has(scope) && operator !== "Exists" ? [fieldInvalid(`${at}.operator`, operator, ONLY_EXISTS)] : []),
    ...valuesProblems(at, operator, values),
  ];
}

function valuesProblems(at: string, operator: unknown, values: unknown): StatusCause[] {
  const count = itemsOf(values).length;
  switch (operator) {
    case "In":
    case "NotIn": {
      const missing = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return count === 0 ? [fieldRequired(`${at}.values`, missing)] : [];
    }
    case "Exists":
    case "DoesNotExist": {
      const needless = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return count === 0 ? [] : [fieldInvalid(`${at}.values`, values, needless)];
    }
    default:
      return [fieldInvalid(`${at}.operator`, operator, "not a valid selector operator")];
  }
}
