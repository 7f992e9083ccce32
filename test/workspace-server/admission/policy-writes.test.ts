// Defaults, validation, rights and status of policies and their bindings.
import { expect } from "chai";
import { grant, makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { startConfigured } from "./support/configured.ts";
import { type Kind, MAP_RULES, makeBinding, makePolicy, policiesAt } from "./support/policies.ts";

const user = "root";
const VALIDATION = { expression: "true" };
const APPLY = { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } };
const variable = (name: string, expression: string): object => ({ variables: [{ name, expression }] });
const validation = (more: object): object => ({ validations: [{ ...VALIDATION, ...more }] });
const rule = (more: object): object => ({ matchConstraints: { resourceRules: [{ ...MAP_RULES[0], ...more }] } });

/** Specs of policies, and Kubernetes' message about `spec.`. */
const REJECTED: readonly (readonly [kind: Kind, spec: object, message: string])[] = [
  [
    "Validating",
    { validations: [] },
    "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
  ],
  ["Validating", { matchConstraints: {} }, "spec.matchConstraints.resourceRules: Required value"],
  [
    "Validating",
    validation({ expression: " " }),
    "spec.validations[0].expression: Required value: expression is not specified",
  ],
  [
    "Validating",
    validation({ expression: "1" }),
    'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
  ],
  [
    "Validating",
    validation({ expression: "object.a ==" }),
    'spec.validations[0].expression: Invalid value: "object.a ==": compilation failed: ERROR: <input>:1:',
  ],
  ["Validating", validation({ expression: "params.a == 1" }), "undeclared reference to 'params' (in container '')"],
  [
    "Validating",
    validation({ expression: "variables.a == 1" }),
    "undeclared reference to 'variables' (in container '')",
  ],
  [
    "Validating",
    validation({ message: "a\nb" }),
    'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
  ],
  [
    "Validating",
    validation({ messageExpression: "1" }),
    'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
  ],
  [
    "Validating",
    validation({ messageExpression: "string(authorizer.path('/').check('get').allowed())" }),
    "undeclared reference to 'authorizer' (in container '')",
  ],
  [
    "Validating",
    validation({ reason: "No" }),
    'spec.validations[0].reason: Unsupported value: "No": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ],
  [
    "Validating",
    { ...variable("1a", "1"), ...validation({}) },
    'spec.variables[0].name: Invalid value: "1a": must be a valid CEL identifier',
  ],
  [
    "Validating",
    { ...variable("a", "variables.b"), ...validation({}) },
    "spec.variables[0].expression: Invalid value: \"variables.b\": compilation failed: ERROR: <input>:1:10: undefined field 'b'",
  ],
  [
    "Validating",
    { ...validation({}), paramKind: { apiVersion: "a/b/c", kind: "K" } },
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  [
    "Validating",
    { ...validation({}), matchConditions: [{ name: "a", expression: "1" }] },
    'spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
  ],
  [
    "Validating",
    { ...validation({}), ...rule({ resourceNames: ["a", "a"] }) },
    'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
  ],
  [
    "Validating",
    { auditAnnotations: [{ key: "a b", valueExpression: "'a'" }] },
    'spec.auditAnnotations[0].key: Invalid value: "refused/a b"',
  ],
  [
    "Validating",
    { auditAnnotations: [{ key: "a", valueExpression: "1" }] },
    'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
  ],
  ["Mutating", { mutations: [] }, "spec.mutations: Required value: mutations must contain at least one item"],
  ["Mutating", { mutations: [APPLY], reinvocationPolicy: "" }, "spec.reinvocationPolicy: Required value"],
  [
    "Mutating",
    { mutations: [{ patchType: "JSONPatch" }] },
    "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
  ],
  [
    "Mutating",
    { mutations: [{ ...APPLY, jsonPatch: { expression: "[]" } }] },
    'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
  ],
  [
    "Mutating",
    { mutations: [{ ...APPLY, applyConfiguration: { expression: "Object.spec{}" } }] },
    'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
  ],
  [
    "Mutating",
    { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[Object{}]" } }] },
    "must evaluate to list(JSONPatch) but got list(Object)",
  ],
  [
    "Mutating",
    { mutations: [APPLY], ...rule({ operations: ["DELETE"] }) },
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
  ],
];

/** Specs of bindings. */
const UNBOUND: readonly (readonly [spec: object, message: string])[] = [
  [{ validationActions: ["Deny"] }, "spec.policyName: Required value"],
  [{ policyName: "a" }, "spec.validationActions: Required value: at least one validation action is required"],
  [{ policyName: "a", validationActions: ["Deny", "Warn"] }, "must not contain both Deny and Warn"],
  [
    { policyName: "a", validationActions: ["Stop"] },
    'spec.validationActions[0]: Unsupported value: "Stop": supported values: "Audit", "Deny", "Warn"',
  ],
  [
    { policyName: "a", validationActions: ["Deny"], paramRef: { parameterNotFoundAction: "Deny" } },
    "spec.paramRef: Required value: one of name or selector must be specified",
  ],
  [
    { policyName: "a", validationActions: ["Deny"], paramRef: { name: "a" } },
    "spec.paramRef.parameterNotFoundAction: Required value",
  ],
  [
    {
      policyName: "a",
      validationActions: ["Deny"],
      paramRef: { name: "a", selector: {}, parameterNotFoundAction: "Deny" },
    },
    "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
  ],
];

describe("policies and their bindings", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let cluster: string;

  before(async () => {
    server = await startConfigured();
    cluster = await makeWorkspace(server, "ws");
  });
  after(() => server[Symbol.asyncDispose]());

  it("get Kubernetes' defaults", async () => {
    const { body } = await makePolicy(server, cluster, {
      kind: "Validating",
      name: "defaults",
      spec: { validations: [VALIDATION] },
    });
    expect(body.metadata.generation).to.equal(1);
    expect(body.spec).to.deep.equal({
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...MAP_RULES[0], scope: "*" }],
      },
      validations: [VALIDATION],
    });
    expect(body).to.not.have.property("status");
    const spec = { policyName: "defaults", paramRef: { name: "a", parameterNotFoundAction: "Deny" } };
    const binding = await makeBinding(server, cluster, { kind: "Mutating", name: "defaults", spec });
    expect([binding.status, binding.body.spec]).to.deep.equal([201, spec]);
  });

  for (const [kind, spec, message] of REJECTED)
    it(`reject ${kind}: ${message.slice(0, 90)}`, async () => {
      const { status, body } = await makePolicy(server, cluster, { kind, name: "refused", spec });
      expect([status, body.reason], body.message).to.deep.equal([422, "Invalid"]);
      expect(body.message).to.contain(message);
    });

  for (const [spec, message] of UNBOUND)
    it(`reject bindings: ${message.slice(0, 90)}`, async () => {
      const { status, body } = await makeBinding(server, cluster, { kind: "Validating", name: "refused", spec });
      expect([status, body.reason], body.message).to.deep.equal([422, "Invalid"]);
      expect(body.message).to.contain(message);
    });

  it("need the right to read the params", async () => {
    await grant(server, cluster, { user: "alice", verbs: ["create"] });
    await grant(server, cluster, { user: "bob", verbs: ["create", "get"] });
    const kind = "Validating";
    const spec = { paramKind: { apiVersion: "v1", kind: "Secret" }, validations: [VALIDATION] };
    const made = (name: string) => makePolicy(server, cluster, { kind, name: "secrets", spec, user: name });
    expect((await made("alice")).body.message).to.equal(
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "secrets" is invalid: spec.paramKind: Forbidden: user alice must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
    );
    expect((await made("bob")).status).to.equal(201);
    const bound = (name: string, paramRef: object) =>
      makeBinding(server, cluster, {
        kind,
        name: "secrets",
        spec: {
          policyName: "secrets",
          validationActions: ["Deny"],
          paramRef: { parameterNotFoundAction: "Deny", ...paramRef },
        },
        user: name,
      });
    const lacks = (verb: string, name: string) =>
      `ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io "secrets" is invalid: spec.paramRef: Forbidden: user ${name} does not have "${verb}" permission on the object referenced by paramRef`;
    expect((await bound("alice", { name: "a", namespace: "default" })).body.message).to.equal(lacks("get", "alice"));
    expect((await bound("bob", { selector: {}, namespace: "default" })).body.message).to.equal(lacks("list", "bob"));
    expect((await bound("bob", { name: "a", namespace: "default" })).status).to.equal(201);
  });

  it("are checked against the types of the objects, into the status", async () => {
    const spec = {
      variables: [{ name: "data", expression: "object.data" }],
      validations: [
        { expression: "object.data.all(key, object.data[key] != '')" },
        { expression: "object.dat != null", messageExpression: "string(object.metadata.labels['a'])" },
        { expression: "variables.data.a > 1" },
      ],
    };
    const path = policiesAt(cluster, "Validating");
    await makePolicy(server, cluster, { kind: "Validating", name: "typed", spec });
    await using watch = await server.watch(`${path}?watch=true&fieldSelector=metadata.name=typed`, { user });
    const policyOf = ({ object }: { readonly object: object }): Checked => object as Checked;
    const isChecked = (event: { readonly object: object }): boolean => {
      const { metadata, status } = policyOf(event);
      return status?.observedGeneration === metadata.generation;
    };
    const [first] = (await watch.until(isChecked)).slice(-1);
    expect(first && policyOf(first).status?.typeChecking).to.deep.equal({ expressionWarnings: WARNINGS });
    const { body } = await server.get(`${path}/typed`, { user });
    const next = { ...body, spec: { ...body.spec, ...validation({}) }, status: {} };
    const updated = await server.send(`PUT ${path}/typed`, next, { user });
    expect([updated.body.metadata.generation, updated.body.status]).to.deep.equal([2, body.status]);
    const isNew = (event: { readonly object: object }): boolean => policyOf(event).metadata.generation === 2;
    const [second] = (await watch.until((event) => isNew(event) && isChecked(event))).slice(-1);
    expect(second && policyOf(second).status?.typeChecking).to.deep.equal({});
  });
});

interface Checked {
  readonly metadata: { readonly generation: number };
  readonly status?: { readonly observedGeneration?: number; readonly typeChecking?: object };
}

const WARNINGS = [
  {
    fieldRef: "spec.validations[1].expression",
    warning:
      "v1, Kind=ConfigMap: compilation failed: ERROR: <input>:1:7: undefined field 'dat'\n | object.dat != null\n | ......^\n",
  },
  {
    fieldRef: "spec.validations[2].expression",
    warning:
      "v1, Kind=ConfigMap: compilation failed: ERROR: <input>:1:18: found no matching overload for '_>_' applied to '(string, int)'\n | variables.data.a > 1\n | .................^\n",
  },
];
