// Policies of workspaces, with their bindings.
import { expect } from "chai";
import type { Answer, Calls } from "../../../_support/plain.ts";

const GROUP = "admissionregistration.k8s.io/v1";
const root = { user: "root" };

/** Rules for ConfigMaps. */
export const MAP_RULES = [
  { operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] },
];

export type Kind = "Validating" | "Mutating";

/** Path of the policies or bindings of a workspace. */
export function policiesAt(cluster: string, kind: Kind, what: "policies" | "policybindings" = "policies") {
  return `/clusters/${cluster}/apis/${GROUP}/${kind.toLowerCase()}admission${what}` as const;
}

/** Creates a policy without a binding. @returns the answer */
export function makePolicy(
  server: Calls,
  cluster: string,
  { kind, name, spec, user = "root" }: { kind: Kind; name: string; spec: object; user?: string },
): Promise<Answer> {
  const object = {
    apiVersion: GROUP,
    kind: `${kind}AdmissionPolicy`,
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: MAP_RULES },
      ...(kind === "Mutating" && { reinvocationPolicy: "Never" }),
      ...spec,
    },
  };
  return server.send(`POST ${policiesAt(cluster, kind)}`, object, { user });
}

/** Creates a binding. @returns the answer */
export function makeBinding(
  server: Calls,
  cluster: string,
  { kind, name, spec, user = "root" }: { kind: Kind; name: string; spec: object; user?: string },
): Promise<Answer> {
  const object = { apiVersion: GROUP, kind: `${kind}AdmissionPolicyBinding`, metadata: { name }, spec };
  return server.send(`POST ${policiesAt(cluster, kind, "policybindings")}`, object, { user });
}

/** Creates a policy for ConfigMaps with a binding of the same name. */
export async function enact(
  server: Calls,
  cluster: string,
  { kind, name = "test", spec, binding = {} }: { kind: Kind; name?: string; spec: object; binding?: object },
): Promise<void> {
  const made = await makePolicy(server, cluster, { kind, name, spec });
  expect(made.status, made.text).to.equal(201);
  const bound = await makeBinding(server, cluster, {
    kind,
    name: `${name}-binding`,
    spec: { policyName: name, ...(kind === "Validating" && { validationActions: ["Deny"] }), ...binding },
  });
  expect(bound.status, bound.text).to.equal(201);
}

/** Deletes a policy and its binding. */
export async function revoke(server: Calls, cluster: string, { kind, name = "test" }: { kind: Kind; name?: string }) {
  await server.send(`DELETE ${policiesAt(cluster, kind, "policybindings")}/${name}-binding`, undefined, root);
  await server.send(`DELETE ${policiesAt(cluster, kind)}/${name}`, undefined, root);
}
