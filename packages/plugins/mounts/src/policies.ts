import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Mount } from "@virtual-workspaces/kcp";

const NAME = "mounts-name-what-their-writers-may-get";
const MAY_GET = (of: string): string =>
  `authorizer.group('').resource('secrets').namespace(${of}.namespace).name(${of}.name).check('get').allowed()`;
const MESSAGE = "whoever writes a Mount must be able to get the Secret that it names";

/**
 * Beside the export of mounts, for a kcp: whoever writes a Mount must be able to get the Secret that it names, for which the workspace
 * server has a rule of its own. Without it whoever may write Mounts has what the Secrets open that are in their workspace.
 */
export function mountPolicies(): KubeObject[] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const rule = {
    apiGroups: [Mount.group],
    apiVersions: ["*"],
    resources: [Mount.plural],
    operations: ["CREATE", "UPDATE"],
  };
  const changed = "oldObject == null || oldObject.spec != object.spec";
  const spec = {
    failurePolicy: "Fail",
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: "spec-has-changed", expression: changed }],
    validations: [
      {
        expression: `!has(object.spec.ref) || object.spec.ref.kind != 'Secret' || ${MAY_GET("object.spec.ref")}`,
        message: `spec.ref: ${MESSAGE}`,
        reason: "Forbidden",
      },
      {
        expression: `!has(object.spec.secretRef) || ${MAY_GET("object.spec.secretRef")}`,
        message: `spec.secretRef: ${MESSAGE}`,
        reason: "Forbidden",
      },
    ],
  };
  const binding = { policyName: NAME, validationActions: ["Deny"] };
  return [
    { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name: NAME }, spec } as KubeObject,
    { apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: NAME }, spec: binding } as KubeObject,
  ];
}
