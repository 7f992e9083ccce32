// ValidatingAdmissionPolicies of a workspace.
import { expect } from "chai";
import { makeAdmin, makeNamespace, makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { enact, makePolicy, revoke } from "./support/policies.ts";

const user = "root";
const kind = "Validating";

describe("policies that validate", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let cluster: string;
  let count = 0;

  before(async () => {
    server = await startConfigured();
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  const send = (call: string, body?: unknown, as = user) => {
    const [method, path] = call.split(" ");
    return server.send(`${method} /clusters/${cluster}/${path}`, body, { user: as });
  };
  const judge = (spec: object, binding?: object, name = "test") =>
    enact(server, cluster, { kind, name, spec, ...(binding && { binding }) });
  const create = (data: object, name = "a", more: object = {}) => makeMap(server, cluster, { name, data, ...more });
  const denied = (why: string): string =>
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'test' with binding 'test-binding' denied request: ${why}`;

  it("reject with Kubernetes' Status: the text of the expression, and reason Invalid", async () => {
    await judge({ validations: [{ expression: "object.data.intent != 'bad'" }] });
    expect((await create({ intent: "good" }, "good")).status).to.equal(201);
    const { status, body } = await create({ intent: "bad" });
    expect(status).to.equal(422);
    const message =
      "ValidatingAdmissionPolicy 'test' with binding 'test-binding' denied request: failed expression: object.data.intent != 'bad'";
    expect(body).to.deep.equal({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `configmaps "a" is forbidden: ${message}`,
      reason: "Invalid",
      details: { name: "a", kind: "configmaps", causes: [{ message }] },
      code: 422,
    });
    expect((await send(`GET ${MAPS}/a`)).status).to.equal(404);
  });

  it("have an effect only with a binding, and only in their workspace", async () => {
    const spec = { validations: [{ expression: "false" }] };
    expect((await makePolicy(server, cluster, { kind, name: "unbound", spec })).status).to.equal(201);
    expect((await create({}, "a")).status).to.equal(201);
    await judge(spec);
    expect((await create({}, "b")).status).to.equal(422);
    const other = await makeWorkspace(server, `other-${count}`);
    expect((await makeMap(server, other, { name: "a" })).status).to.equal(201);
    await revoke(server, cluster, { kind });
    expect((await create({}, "b")).status).to.equal(201);
  });

  it("choose message, messageExpression and reason as Kubernetes", async () => {
    const validations = [
      { expression: "object.data.of != 'message'", message: "  not this  ", reason: "Forbidden" },
      {
        expression: "object.data.of != 'expression'",
        message: "static",
        messageExpression: "'not ' + object.data.of",
        reason: "RequestEntityTooLarge",
      },
      { expression: "object.data.of != 'failing'", message: "static", messageExpression: "string(object.data.none)" },
      { expression: "object.data.of != 'lines'", messageExpression: "'a\\nb'" },
    ];
    await judge({ validations });
    const answers: unknown[] = [];
    for (const what of ["message", "expression", "failing", "lines"]) {
      const { body } = await create({ of: what });
      answers.push([body.code, body.reason, body.message]);
    }
    expect(answers).to.deep.equal([
      [403, "Forbidden", denied("not this")],
      [413, "RequestEntityTooLarge", denied("not expression")],
      [422, "Invalid", denied("static")],
      [422, "Invalid", denied("failed expression: object.data.of != 'lines'")],
    ]);
  });

  it("reject when an expression fails, unless the failure policy ignores it", async () => {
    const validations = [{ expression: "object.data.missing == 'a'" }];
    await judge({ validations });
    expect((await create({})).body.message).to.equal(
      denied("expression 'object.data.missing == 'a'' resulted in error: no such key: missing"),
    );
    await revoke(server, cluster, { kind });
    await judge({ validations, failurePolicy: "Ignore" });
    expect((await create({})).status).to.equal(201);
  });

  it("warn and annotate audit events where the binding says so", async () => {
    await judge({ validations: [{ expression: "false", message: "no" }] }, { validationActions: ["Warn", "Audit"] });
    const answer = await create({});
    expect(answer.status).to.equal(201);
    expect(answer.headers["warning"]).to.equal(
      "299 - \"Validation failed for ValidatingAdmissionPolicy 'test' with binding 'test-binding': no\"",
    );
  });

  it("evaluate variables lazily, with those before them", async () => {
    await judge({
      variables: [
        { name: "size", expression: "size(object.data)" },
        { name: "double", expression: "variables.size * 2" },
        { name: "broken", expression: "object.data.none" },
      ],
      validations: [
        { expression: "variables.double < 4", messageExpression: "string(variables.double)" },
        { expression: "variables.size < 9 || variables.broken == 'a'" },
        { expression: "!has(object.data.ask) || variables.broken == ''" },
      ],
    });
    expect((await create({ a: "1" }, "good")).status).to.equal(201);
    expect((await create({ a: "1", b: "2" })).body.message).to.equal(denied("4"));
    expect((await create({ ask: "1" })).body.message).to.equal(
      denied(
        "expression '!has(object.data.ask) || variables.broken == ''' resulted in error: composited variable \"broken\" fails to evaluate: no such key: none",
      ),
    );
  });

  it("see the request, the old object and the namespace", async () => {
    await judge({
      validations: [
        { expression: "request.operation == 'CREATE' ? oldObject == null : oldObject.data.n != object.data.n" },
        { expression: "request.userInfo.username != 'mallory' && request.namespace == namespaceObject.metadata.name" },
        { expression: "namespaceObject.metadata.?labels['closed'].orValue('') != 'yes'", message: "closed" },
        { expression: "request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'" },
      ],
    });
    expect((await create({ n: "1" })).status).to.equal(201);
    const { body } = await send(`GET ${MAPS}/a`);
    expect((await send(`PUT ${MAPS}/a`, { ...body, data: { n: "2" } })).status).to.equal(200);
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "one", labels: { closed: "yes" } } };
    await send("POST api/v1/namespaces", namespace);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    expect((await send("POST api/v1/namespaces/one/configmaps", map)).body.message).to.equal(denied("closed"));
  });

  it("ask the authorizer about the requester and about service accounts, in the workspace of the request", async () => {
    await makeAdmin(server, cluster, "alice");
    await judge({
      validations: [
        {
          expression:
            "object.data.?ask.orValue('') != 'self' || authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()",
        },
        {
          expression:
            "object.data.?ask.orValue('') != 'resource' || authorizer.requestResource.check('create').allowed()",
        },
        {
          expression:
            "object.data.?ask.orValue('') != 'account' || authorizer.serviceAccount('default', 'default').group('').resource('secrets').check('list').allowed()",
          message: "the account may not",
        },
        { expression: "object.data.?ask.orValue('') != 'path' || authorizer.path('/healthz').check('get').allowed()" },
      ],
    });
    const asked: number[] = [];
    for (const ask of ["self", "resource", "account", "path"])
      asked.push((await create({ ask }, ask, { user: "alice" })).status);
    expect(asked).to.deep.equal([201, 201, 422, 201]);
  });

  it("skip requests that match conditions exclude, and reject when one fails", async () => {
    await judge({
      matchConditions: [
        { name: "judged", expression: "object.metadata.name.startsWith('judged')" },
        { name: "failing", expression: "object.data.n == '1'" },
      ],
      validations: [{ expression: "false", message: "no" }],
    });
    expect((await create({}, "free")).status).to.equal(201);
    const failed = await create({}, "judged");
    expect(failed.body.message).to.contain("expression 'object.data.n == '1'' resulted in error: no such key: n");
    expect((await create({ n: "1" }, "judged")).body.message).to.contain("denied request: no");
  });

  it("match resource names, excluded rules, selectors and the resources of the binding", async () => {
    const rule = { operations: ["*"], apiGroups: [""], apiVersions: ["*"], resources: ["configmaps"] };
    await judge(
      {
        matchConstraints: {
          resourceRules: [{ ...rule, resourceNames: ["a", "b", "c"] }],
          excludeResourceRules: [{ ...rule, resourceNames: ["b"] }],
          namespaceSelector: { matchExpressions: [{ key: "free", operator: "DoesNotExist" }] },
        },
        validations: [{ expression: "false" }],
      },
      { matchResources: { objectSelector: { matchLabels: { judged: "yes" } } } },
    );
    const labels = { judged: "yes" };
    const statuses: number[] = [];
    for (const name of ["a", "b", "d"]) statuses.push((await create({}, name, { labels })).status);
    statuses.push((await create({}, "c")).status);
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "free", labels: { free: "yes" } } };
    await send("POST api/v1/namespaces", namespace);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels } };
    statuses.push((await send("POST api/v1/namespaces/free/configmaps", map)).status);
    expect(statuses).to.deep.equal([422, 201, 201, 201, 201]);
  });

  it("judge deletes by the old object", async () => {
    const rules = [{ operations: ["DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
    await judge({
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "object == null && oldObject.data.keep != 'yes'", message: "kept" }],
    });
    await create({ keep: "yes" }, "a");
    await create({ keep: "no" }, "b");
    expect((await send(`DELETE ${MAPS}/a`)).body.message).to.equal(denied("kept"));
    expect((await send(`DELETE ${MAPS}/b`)).status).to.equal(200);
  });

  it("do not judge configurations and reviews, which no policy may block", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] }];
    await judge({ matchConstraints: { resourceRules: rules }, validations: [{ expression: "false" }] });
    const about = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
    const spec = { resourceAttributes: { verb: "get", resource: "secrets" } };
    const review = await send("POST apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { ...about, spec });
    expect(review.status, review.text).to.equal(201);
    const none = await create({});
    expect(none.status).to.equal(422);
    await revoke(server, cluster, { kind });
    expect((await create({})).status).to.equal(201);
  });

  it("find params by name and by labels, and act when there are none", async () => {
    await makeNamespace(server, cluster, "settings");
    const param = (name: string, most: string, labels: object = {}) =>
      send("POST api/v1/namespaces/settings/configmaps", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, labels },
        data: { most },
      });
    await param("small", "1", { set: "one" });
    await param("large", "3", { set: "one" });
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "other", expression: "request.namespace != 'settings'" }],
      validations: [
        {
          expression: "params == null || size(object.data) <= int(params.data.most)",
          messageExpression: "'at most ' + params.data.most",
        },
      ],
    };
    const within = async (paramRef: object, data: object) => {
      await judge(spec, { paramRef: { namespace: "settings", parameterNotFoundAction: "Deny", ...paramRef } });
      const { body } = await create(data);
      await send(`DELETE ${MAPS}/a`);
      await revoke(server, cluster, { kind });
      return body.message ?? body.metadata.name;
    };
    const two = { a: "1", b: "2" };
    expect(await within({ name: "small" }, two)).to.equal(denied("at most 1"));
    expect(await within({ name: "large" }, two)).to.equal("a");
    expect(await within({ selector: { matchLabels: { set: "one" } } }, two)).to.equal(denied("at most 1"));
    expect(
      await within({ selector: { matchLabels: { set: "none" } }, parameterNotFoundAction: "Allow" }, two),
    ).to.equal("a");
    expect(await within({ name: "none" }, two)).to.equal(
      denied("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
    );
  });

  it("reject when the kind of the params is unknown", async () => {
    await judge(
      { paramKind: { apiVersion: "example.dev/v1", kind: "Limit" }, validations: [{ expression: "true" }] },
      { paramRef: { name: "a", parameterNotFoundAction: "Allow" } },
    );
    expect((await create({})).body.message).to.equal(
      "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'test' denied request: failed to configure policy: failed to find resource referenced by paramKind: '{example.dev/v1 Limit}'",
    );
  });

  it("reject expressions that would take too long", async () => {
    const nested =
      "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a + b + c + d != ''))))";
    await judge({ validations: [{ expression: nested }] });
    const data = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, "v"]));
    expect((await create(data)).body.message).to.contain(
      "resulted in error: operation cancelled: actual cost limit exceeded",
    );
    expect((await create({ a: "1" })).status).to.equal(201);
  });
});
