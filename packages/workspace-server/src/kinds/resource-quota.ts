import { fieldInvalid, type KubeObject, labelKeyProblems, type StatusCause } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { object, objects, text, texts } from "./descriptions.ts";
import { finalizerProblems, immutableProblem, membersOf, specOf } from "./problems.ts";
import { isQuantity, isWhole } from "./quantity.ts";
import { scopeProblems } from "./quota-scopes.ts";

/** Resource names without a domain that a quota may limit. */
const STANDARD: ReadonlySet<string> = new Set([
  ...["cpu", "memory", "ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets"],
  ...["configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers", "requests.storage"],
  ...["cpu", "memory", "ephemeral-storage"].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);
/** Resource names whose quantities are counts. */
const COUNTED: ReadonlySet<string> = new Set([
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"],
  ...["persistentvolumeclaims", "services.nodeports", "services.loadbalancers"],
]);

function isStandard(name: string): boolean {
  return STANDARD.has(name) || /^(?:requests\.)?hugepages-/.test(name);
}

function problems(quota: KubeObject, before: KubeObject | undefined, subresource: string): StatusCause[] {
  if (subresource === "status") return quantityProblems("status.used", membersOf(quota["status"])["used"]);
  const spec = specOf(quota);
  return [
    ...finalizerProblems(quota.metadata),
    ...quantityProblems("spec.hard", spec["hard"]),
    ...scopeProblems(spec, isStandard),
    ...(before === undefined ? [] : immutableProblem("spec.scopes", spec["scopes"], specOf(before)["scopes"])),
  ];
}

function quantityProblems(field: string, quantities: unknown): StatusCause[] {
  return Object.entries(membersOf(quantities)).flatMap(([name, value]) => {
    const at = `${field}[${name}]`;
    const invalid = (detail: string): StatusCause => fieldInvalid(at, name, detail);
    const known = name.includes("/") || isStandard(name);
    return [
      ...labelKeyProblems(name).map(invalid),
      ...(known ? [] : [invalid("must be a standard resource for quotas")]),
      ...valueProblems(at, name, String(value)),
    ];
  });
}

function valueProblems(at: string, name: string, value: string): StatusCause[] {
  if (!isQuantity(value))
    return [
      fieldInvalid(
        at,
        value,
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ),
    ];
  if (value.startsWith("-")) return [fieldInvalid(at, value, "must be greater than or equal to 0")];
  const counted = COUNTED.has(name) || name.startsWith("count/");
  return counted && !isWhole(value) ? [fieldInvalid(at, value, "must be an integer")] : [];
}

/** Formats used and hard quantities: `requests.cpu: 1/2, pods: 3/10`. */
function usage(quota: KubeObject, limits: boolean): string {
  const { hard, used } = membersOf(quota["status"]);
  const names = Object.keys(membersOf(hard)).filter((name) => name.startsWith("limits.") === limits);
  return names
    .sort()
    .map((name) => `${name}: ${String(membersOf(used)[name] ?? 0)}/${String(membersOf(hard)[name])}`)
    .join(", ");
}

const columns: Columns = {
  Request: {
    type: "string",
    description: "Request represents a minimum amount of cpu/memory that a container may consume.",
    value: (quota) => usage(quota, false),
  },
  Limit: {
    type: "string",
    description:
      "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
    value: (quota) => usage(quota, true),
  },
  Age: AGE,
};

const quantities = (description: string) =>
  ({ type: "object", description, additionalProperties: { "x-kubernetes-int-or-string": true } }) as const;

/** `v1` ResourceQuota: limits numbers of objects, see `quotas/`. */
export const ResourceQuota: Resource = new Resource({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  scope: "Namespaced",
  shortNames: ["quota"],
  description: "ResourceQuota sets aggregate quota restrictions enforced per namespace.",
  schema: {
    type: "object",
    properties: {
      spec: object("Limits of the quota.", {
        hard: quantities("Limits by resource; count/<resource>.<group> limits a number of objects."),
        scopes: texts("Scopes of the objects that count. Immutable."),
        scopeSelector: {
          ...object("Selector of the scopes of the objects that count.", {
            matchExpressions: objects("Requirements, all of which must match.", {
              scopeName: text("Name of the scope."),
              operator: text("In, NotIn, Exists or DoesNotExist."),
              values: texts("Values for In and NotIn."),
            }),
          }),
          "x-kubernetes-map-type": "atomic",
        },
      }),
      status: object("Usage.", {
        hard: quantities("Limits in force."),
        used: quantities("By resource."),
      }),
    },
  },
  columns,
  strategy: { generation: false, returnDeleted: true, unconditionalUpdate: true, problems },
});

export const resourceQuotas: BuiltInKind = { resource: ResourceQuota, verbs: STANDARD_VERBS };
