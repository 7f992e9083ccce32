// MutatingAdmissionPolicies of a workspace, alone and together with webhooks.
import { expect } from "chai";
import { makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { enact, revoke } from "./support/policies.ts";
import { WebhookServer } from "./support/webhook.ts";

const user = "root";
const kind = "Mutating";
const apply = (expression: string): object => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const patch = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });

describe("policies that mutate", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let webhooks: WebhookServer;
  let cluster: string;
  let count = 0;

  before(async () => {
    webhooks = await WebhookServer.start();
    server = await startConfigured();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  const send = (call: string, body?: unknown) => {
    const [method, path] = call.split(" ");
    return server.send(`${method} /clusters/${cluster}/${path}`, body, { user });
  };
  const change = (mutations: readonly object[], spec: object = {}, name = "test") =>
    enact(server, cluster, { kind, name, spec: { mutations, ...spec } });
  const create = (data: object, name = "a", more: object = {}) => makeMap(server, cluster, { name, data, ...more });
  const denied = (why: string): string => `policy 'test' with binding 'test-binding' denied request: ${why}`;

  it("apply configurations: other fields stay, and maps are merged", async () => {
    await change([
      apply("Object{metadata: Object.metadata{labels: {'mutated': 'true'}}, data: {'added': object.data.a + '!'}}"),
    ]);
    const { status, body, text } = await create({ a: "1" }, "a", { labels: { own: "yes" } });
    expect(status, text).to.equal(201);
    expect(body.metadata.labels).to.deep.equal({ own: "yes", mutated: "true" });
    expect(body.data).to.deep.equal({ a: "1", added: "1!" });
    expect(body.metadata.annotations).to.deep.equal({ "kcp.io/cluster": cluster });
    const changed = await send(`PUT ${MAPS}/a`, { ...body, data: { a: "2" } });
    expect(changed.body.data).to.deep.equal({ a: "2", added: "2!" });
  });

  it("apply JSON patches; a failed test leaves the object as it is", async () => {
    await change([
      patch(
        "[JSONPatch{op: 'test', path: '/data/intent', value: 'bad'}, JSONPatch{op: 'replace', path: '/data/intent', value: 'good'}]",
      ),
      patch(
        "has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.dev/seen'), value: object.data.intent}]",
      ),
    ]);
    const { body } = await create({ intent: "bad" });
    expect([body.data, body.metadata.labels]).to.deep.equal([{ intent: "good" }, { "example.dev/seen": "good" }]);
    const other = await create({ intent: "fine" }, "b", { labels: { a: "b" } });
    expect([other.body.data, other.body.metadata.labels]).to.deep.equal([{ intent: "fine" }, { a: "b" }]);
  });

  it("use variables, params and match conditions, and change only their workspace", async () => {
    await send("POST api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings" },
      data: { color: "red" },
    });
    await enact(server, cluster, {
      kind,
      spec: {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        variables: [{ name: "color", expression: "params.data.color" }],
        matchConditions: [{ name: "colorless", expression: "!has(object.data) || !('color' in object.data)" }],
        mutations: [apply("Object{data: {'color': variables.color}}")],
      },
      binding: { paramRef: { name: "settings", parameterNotFoundAction: "Deny" } },
    });
    expect((await create({ a: "1" })).body.data).to.deep.equal({ a: "1", color: "red" });
    expect((await create({ color: "blue" }, "b")).body.data).to.deep.equal({ color: "blue" });
    const other = await makeWorkspace(server, `other-${count}`);
    expect((await makeMap(server, other, { name: "a", data: { a: "1" } })).body.data).to.deep.equal({ a: "1" });
  });

  it("reject when an expression or a patch fails, unless the failure policy ignores it", async () => {
    const cases: [object, string][] = [
      [
        apply("Object{data: {'a': object.data.none}}"),
        "expression 'Object{data: {'a': object.data.none}}' resulted in error: no such key: none",
      ],
      [
        patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
        "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
      ],
      [
        apply("Object{spec: Object.spec{a: 1}}"),
        "error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema",
      ],
      [
        apply("Object{metadata: Object.wrong{name: 'b'}}"),
        'type mismatch: unexpected type name "Object.wrong", expected "Object.metadata", which matches field name path from root Object type',
      ],
      [
        apply("Object{metadata: Object.metadata{managedFields: []}}"),
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.managedFields",
      ],
    ];
    for (const [mutation, why] of cases) {
      await change([mutation]);
      const { body } = await create({});
      const message = denied(why);
      expect(body, why).to.deep.equal({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message,
        reason: "Invalid",
        details: { name: "a", kind: "configmaps", causes: [{ message }] },
        code: 403,
      });
      await revoke(server, cluster, { kind });
    }
    await change([apply("Object{data: {'a': object.data.none}}")], { failurePolicy: "Ignore" });
    expect((await create({})).status).to.equal(201);
  });

  it("may not change what the request was authorized for", async () => {
    await change([patch("[JSONPatch{op: 'replace', path: '/metadata/namespace', value: 'other'}]")]);
    const { body } = await create({});
    expect([body.code, body.message]).to.deep.equal([
      500,
      'Internal error occurred: policy "test" attempted to change metadata.namespace, which is not supported',
    ]);
  });

  it("run by name after webhooks, and all that want it once more after a later change", async () => {
    const append = (text: string): object => apply(`Object{data: {'log': object.data.log + '${text}'}}`);
    await change([append("b")], { reinvocationPolicy: "IfNeeded" }, "b");
    await change([append("c")], {}, "c");
    webhooks.at("/first", ({ object }) => ({
      patch: [{ op: "replace", path: "/data/log", value: `${object.data.log}w` }],
    }));
    await configure(server, cluster, {
      kind: "Mutating",
      name: "first",
      webhooks: [hook(webhooks, "/first", { reinvocationPolicy: "IfNeeded" })],
    });
    expect((await create({ log: "-" })).body.data.log).to.equal("-wbcwb");
  });

  it("are judged with their changes: by the schema, policies and webhooks that validate", async () => {
    await change([apply("Object{data: {'added': 'yes'}}")]);
    await enact(server, cluster, {
      kind: "Validating",
      name: "check",
      spec: { validations: [{ expression: "object.data.added == 'no'", message: "added" }] },
    });
    expect((await create({})).body.message).to.contain("denied request: added");
  });

  it("do not run for deletes", async () => {
    const rules = [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
    await change([apply("Object{data: {'a': '1'}}")], { matchConstraints: { resourceRules: rules } });
    await create({});
    expect((await send(`DELETE ${MAPS}/a`)).status).to.equal(200);
  });
});
