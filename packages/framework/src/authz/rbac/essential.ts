import type { PolicyRule, RbacObject } from "./objects.ts";

/** What decisions are made by: everything else that an object has would only take memory. */
export function essential(object: RbacObject): RbacObject {
  const { name } = object.metadata;
  switch (object.kind) {
    case "Role":
      return { kind: "Role", metadata: { name, namespace: object.metadata.namespace }, rules: rulesOf(object.rules) };
    case "ClusterRole": {
      const { labels } = object.metadata;
      const { aggregationRule } = object;
      return {
        kind: "ClusterRole",
        metadata: labels === undefined ? { name } : { name, labels },
        rules: rulesOf(object.rules),
        ...(aggregationRule && { aggregationRule }),
      };
    }
    case "RoleBinding": {
      const { roleRef, metadata, subjects } = object;
      const { kind, name: role } = roleRef;
      const namespaced = { name, namespace: metadata.namespace };
      return { kind: "RoleBinding", metadata: namespaced, roleRef: { kind, name: role }, subjects: exact(subjects) };
    }
    case "ClusterRoleBinding": {
      const { roleRef, subjects } = object;
      const { kind, name: role } = roleRef;
      return { kind: "ClusterRoleBinding", metadata: { name }, roleRef: { kind, name: role }, subjects: exact(subjects) };
    }
  }
}

/** Objects from elsewhere may say null for what they do not have. */
function rulesOf(rules: readonly PolicyRule[] | null | undefined): readonly PolicyRule[] {
  return rules ?? [];
}

type Subjects = NonNullable<Extract<RbacObject, { kind: "RoleBinding" }>["subjects"]>;

function exact(subjects: Subjects | null | undefined): Subjects {
  return (subjects ?? []).map(({ kind, name, namespace }) =>
    namespace === undefined || kind !== "ServiceAccount" ? { kind, name } : { kind, name, namespace },
  );
}
