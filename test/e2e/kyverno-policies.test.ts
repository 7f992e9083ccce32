// Admission policies as Kyverno generates them from its own kinds, applied and met with kubectl.
import { join } from "node:path";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { Start } from "../cli/support/start.ts";
import { needsKubectl } from "./support/kubectls.ts";

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: deployments.apps
spec:
  group: apps
  scope: Namespaced
  names: {plural: deployments, singular: deployment, kind: Deployment}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: true
`;

/** Label and owner of all generated objects. The server does not know the kind of the owner. */
const GENERATED = `
  labels:
    app.kubernetes.io/managed-by: kyverno
  ownerReferences:
    - apiVersion: kyverno.io/v1
      kind: ClusterPolicy
      name: generated
      uid: 5c6a0a1e-6f5c-4f7c-9f0b-7d4b0b6e9a11`;

const RULES = `
    resourceRules:
      - apiGroups: [apps]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [deployments]
        scope: '*'
    matchPolicy: Equivalent
    namespaceSelector: {}
    objectSelector: {}`;

/** Generated from a ClusterPolicy, with a PolicyException as a match condition. */
const HOST_PATHS = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: cpol-disallow-host-path${GENERATED}
spec:
  failurePolicy: Fail
  matchConstraints:${RULES}
  matchConditions:
    - name: exclude-masters
      expression: "!('system:masters' in request.userInfo.groups)"
    - name: exception-legacy
      expression: "!(object.metadata.name.startsWith('legacy-') && request.namespace == 'default')"
  variables:
    - name: volumes
      expression: object.spec.template.spec.?volumes.orValue([])
    - name: hostPaths
      expression: variables.volumes.filter(volume, has(volume.hostPath)).map(volume, string(volume.name))
  validations:
    - expression: variables.hostPaths.size() == 0
      messageExpression: "'HostPath volumes are forbidden: ' + variables.hostPaths.join(', ')"
      reason: Forbidden
  auditAnnotations:
    - key: host-paths
      valueExpression: string(variables.hostPaths.size())
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: cpol-disallow-host-path-binding${GENERATED}
spec:
  policyName: cpol-disallow-host-path
  validationActions: [Deny]
`;

/** With params that a selector finds, and the labels of the namespace. */
const REPLICAS = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: limits
  labels: {limits: replicas}
data:
  production: "5"
  test: "1"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: vpol-check-replicas${GENERATED}
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:${RULES}
  variables:
    - name: environment
      expression: "namespaceObject.metadata.?labels['environment'].orValue('test')"
    - name: most
      expression: int(params.data[variables.environment])
  validations:
    - expression: object.spec.replicas <= variables.most
      messageExpression: "'replicas: ' + string(object.spec.replicas) + ' is above ' + string(variables.most) + ' in ' + variables.environment"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: vpol-check-replicas-binding${GENERATED}
spec:
  policyName: vpol-check-replicas
  validationActions: [Warn, Audit]
  paramRef:
    namespace: default
    selector: {matchLabels: {limits: replicas}}
    parameterNotFoundAction: Deny
  matchResources:
    namespaceSelector:
      matchExpressions: [{key: unlimited, operator: DoesNotExist}]
`;

/** Generated from a MutatingPolicy. */
const LABELS = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: mpol-add-labels${GENERATED}
spec:
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  matchConstraints:${RULES}
  matchConditions:
    - name: has-no-team
      expression: "!has(object.metadata.labels) || !('team' in object.metadata.labels)"
  variables:
    - name: team
      expression: "namespaceObject.metadata.?labels['team'].orValue('none')"
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration:
        expression: "Object{metadata: Object.metadata{labels: Object.metadata.labels{managed: 'yes'}}}"
    - patchType: JSONPatch
      jsonPatch:
        expression: >-
          [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('team'), value: variables.team}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: mpol-add-labels-binding${GENERATED}
spec:
  policyName: mpol-add-labels
`;

const deployment = (name: string, replicas: number, volume: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  template:
    spec:
      volumes: [${volume}]
`;

describe("policies that Kyverno generates", function () {
  this.timeout(120_000);
  let folder: Tree;
  let server: Start;

  before(async function () {
    needsKubectl.call(this);
    folder = tree({
      "crd.yaml": CRD,
      "host-paths.yaml": HOST_PATHS,
      "replicas.yaml": REPLICAS,
      "labels.yaml": LABELS,
      "fine.yaml": deployment("fine", 1, "{name: data, emptyDir: {}}"),
      "legacy.yaml": deployment("legacy-one", 1, "{name: host, hostPath: {path: /}}"),
      "hostile.yaml": deployment("hostile", 1, "{name: host, hostPath: {path: /}}"),
      "large.yaml": deployment("large", 4, ""),
    });
    server = await Start.ready({ in: folder.path });
    const made = await run(
      "apply",
      "-f",
      "crd.yaml",
      "-f",
      "host-paths.yaml",
      "-f",
      "replicas.yaml",
      "-f",
      "labels.yaml",
    );
    expect(made).to.match(/^0 /);
    expect(await run("wait", "--for=condition=Established", "crd/deployments.apps")).to.match(/^0 /);
    for (const [name, label] of [
      ["shop", "environment=production"],
      ["lab", "unlimited=yes"],
    ] as const) {
      expect(await run("create", "namespace", name)).to.match(/^0 /);
      expect(await run("label", "namespace", name, label, `team=${name}`)).to.match(/^0 /);
    }
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  /** Runs kubectl; names of files are those of the folder. */
  const run = (...args: readonly string[]): Promise<string> =>
    server.kubectl(...args.map((arg) => (arg.endsWith(".yaml") ? join(folder.path, arg) : arg)));

  it("reject by variables, with a message expression and a reason, and let exceptions pass", async () => {
    expect(await run("apply", "-f", "fine.yaml")).to.equal("0 deployment.apps/fine created");
    expect(await run("apply", "-f", "legacy.yaml")).to.equal("0 deployment.apps/legacy-one created");
    expect(await run("apply", "-f", "hostile.yaml")).to.include(
      "ValidatingAdmissionPolicy 'cpol-disallow-host-path' with binding 'cpol-disallow-host-path-binding' denied request: HostPath volumes are forbidden: host",
    );
    expect(await run("apply", "-n", "shop", "-f", "legacy.yaml")).to.match(
      /^1 .*HostPath volumes are forbidden: host/s,
    );
  });

  it("warn by params that a selector finds, and by the namespace", async () => {
    const warning = (most: string): string =>
      `Warning: Validation failed for ValidatingAdmissionPolicy 'vpol-check-replicas' with binding 'vpol-check-replicas-binding': replicas: 4 is above ${most}`;
    const large = (namespace: string): Promise<string> => run("apply", "-n", namespace, "-f", "large.yaml");
    expect(await large("default"))
      .to.include(warning("1 in test"))
      .and.include("deployment.apps/large created");
    expect(await large("shop")).to.equal("0 deployment.apps/large created");
    expect(await large("lab")).to.equal("0 deployment.apps/large created");
    expect(await run("patch", "configmap", "limits", "-p", '{"data":{"production":"3"}}')).to.match(/^0 /);
    const scaled = await run(
      "patch",
      "deployment",
      "large",
      "-n",
      "shop",
      "--type=merge",
      "-p",
      '{"spec":{"paused":true}}',
    );
    expect(scaled).to.include(warning("3 in production"));
    expect(await run("delete", "configmap", "limits")).to.match(/^0 /);
    expect(await large("default")).to.match(/^0 .*unchanged/);
    const patched = await run("patch", "deployment", "large", "--type=merge", "-p", '{"spec":{"paused":true}}');
    expect(patched).to.match(/^1 .*no params found for policy binding with `Deny` parameterNotFoundAction/s);
  });

  it("add labels by an apply configuration and a JSON patch", async () => {
    const labels = (name: string, namespace: string): Promise<string> =>
      run("get", "deployment", name, "-n", namespace, "-o", "jsonpath={.metadata.labels}");
    expect(await labels("fine", "default")).to.equal('0 {"managed":"yes","team":"none"}');
    expect(await labels("large", "shop")).to.equal('0 {"managed":"yes","team":"shop"}');
  });

  it("stay, although the kind of their owner is unknown", async () => {
    const kinds = ["validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies"];
    const named = await run("get", kinds.join(), "-l", "app.kubernetes.io/managed-by=kyverno", "-o", "name");
    expect(named.split("\n")).to.have.length(5);
    const types = "jsonpath={.status.typeChecking}";
    expect(await run("get", "validatingadmissionpolicy", "cpol-disallow-host-path", "-o", types)).to.equal("0 {}");
  });
});
