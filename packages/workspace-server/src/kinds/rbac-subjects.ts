import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type JsonSchema,
  type KubeObject,
  nameProblems,
  pathSegmentProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { AGE, type Columns } from "./built-in-kind.ts";
import { object, objects, text } from "./descriptions.ts";
import { finalizerProblems, itemsOf, membersOf, textOf } from "./problems.ts";

/** API group of roles, users and groups. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Sets missing API groups of subjects and the role, which follow from their kinds. */
export function bindingDefaults(binding: KubeObject): void {
  const ref = membersOf(binding["roleRef"]);
  if (textOf(ref["apiGroup"]) === "") binding["roleRef"] = { ...ref, apiGroup: RBAC_GROUP };
  if (!Array.isArray(binding["subjects"])) return;
  binding["subjects"] = binding["subjects"].map((subject: unknown) => {
    const { kind, apiGroup } = membersOf(subject);
    const named = (kind === "User" || kind === "Group") && textOf(apiGroup) === "";
    return named ? { ...membersOf(subject), apiGroup: RBAC_GROUP } : subject;
  });
}

/** Validates a RoleBinding or ClusterRoleBinding. */
export function bindingProblems(
  binding: KubeObject,
  before: KubeObject | undefined,
  namespaced: boolean,
): StatusCause[] {
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  const ref = membersOf(binding["roleRef"]);
  const [group, kind, name] = [textOf(ref["apiGroup"]), textOf(ref["kind"]), textOf(ref["name"])];
  return [
    ...finalizerProblems(binding.metadata),
    ...(group === RBAC_GROUP ? [] : [fieldNotSupported("roleRef.apiGroup", group, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [fieldNotSupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [fieldRequired("roleRef.name")] : []),
    ...pathSegmentProblems(name).map((problem) => fieldInvalid("roleRef.name", name, problem)),
    ...itemsOf(binding["subjects"]).flatMap((subject, at) => subjectProblems(subject, `subjects[${at}]`, namespaced)),
    ...(before === undefined || equalJson(ref, membersOf(before["roleRef"]))
      ? []
      : [fieldInvalid("roleRef", { APIGroup: group, Kind: kind, Name: name }, "cannot change roleRef")]),
  ];
}

function subjectProblems(
  subject: Readonly<Record<string, unknown>>,
  field: string,
  namespaced: boolean,
): StatusCause[] {
  const kind = textOf(subject["kind"]);
  const name = textOf(subject["name"]);
  const group = textOf(subject["apiGroup"]);
  const noName = name === "" ? [fieldRequired(`${field}.name`)] : [];
  const ofGroup = (wanted: string): StatusCause[] =>
    group === wanted ? [] : [fieldNotSupported(`${field}.apiGroup`, group, [wanted])];
  if (kind === "ServiceAccount") {
    const placed = namespaced || textOf(subject["namespace"]) !== "";
    const problems = name === "" ? [] : nameProblems(name);
    return [
      ...noName,
      ...problems.map((problem) => fieldInvalid(`${field}.name`, name, problem)),
      ...ofGroup(""),
      ...(placed ? [] : [fieldRequired(`${field}.namespace`)]),
    ];
  }
  if (kind !== "User" && kind !== "Group")
    return [...noName, fieldNotSupported(`${field}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  const empty = fieldInvalid(`${field}.name`, name, `${kind.toLowerCase()} name cannot be empty`);
  return [...noName, ...(name === "" ? [empty] : []), ...ofGroup(RBAC_GROUP)];
}

const namesOf = (kind: string) => (binding: KubeObject) =>
  itemsOf(binding["subjects"])
    .filter((subject) => subject["kind"] === kind)
    .map(({ namespace, name }) => (kind === "ServiceAccount" ? `${textOf(namespace)}/${textOf(name)}` : textOf(name)))
    .join(", ");

/** Columns of `kubectl get` for bindings; Age follows the role. */
export const bindingColumns: Columns = {
  Role: {
    type: "string",
    description: "Role that the binding grants. Immutable.",
    value: ({ roleRef }) => `${textOf(membersOf(roleRef)["kind"])}/${textOf(membersOf(roleRef)["name"])}`,
  },
  Age: AGE,
  Users: { type: "string", priority: 1, description: "Users in the roleBinding", value: namesOf("User") },
  Groups: { type: "string", priority: 1, description: "Groups in the roleBinding", value: namesOf("Group") },
  ServiceAccounts: {
    type: "string",
    priority: 1,
    description: "ServiceAccounts in the roleBinding",
    value: namesOf("ServiceAccount"),
  },
};

export const bindingSchema: JsonSchema = {
  type: "object",
  properties: {
    subjects: objects("Users, groups and service accounts that get the permissions.", {
      kind: text("User, Group or ServiceAccount."),
      apiGroup: text("API group of users and groups; empty for service accounts."),
      name: text("Name of the subject."),
      namespace: text("Namespace of a service account."),
    }),
    roleRef: {
      ...object("Role that the binding grants. Immutable: to change it, delete the binding and create another.", {
        apiGroup: text("API group of roles."),
        kind: text("Role or ClusterRole."),
        name: text("Name of the role."),
      }),
      "x-kubernetes-map-type": "atomic",
    },
  },
};
