// Webhooks and policies of the exporter judge writes of a resource that a view stores, as of any other bound resource.
import { clientCertificates, requestHeader } from "@virtual-workspaces/framework/authn";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { APPLY, JSON_PATCH, MERGE } from "../../_support/patches.ts";
import type { Answer } from "../../_support/plain.ts";
import { createAuthority, startTls } from "../../_support/server.ts";
import { untilAnswer } from "../../_support/until.ts";
import { anywhere, configure, hook } from "../admission/support/configured.ts";
import { makeBinding, makePolicy } from "../admission/support/policies.ts";
import { WebhookServer } from "../admission/support/webhook.ts";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { echo, failed, Kept, root, shelf, type Told, WIDGETS } from "./support/kept.ts";

const RULES = [
  {
    operations: ["CREATE", "UPDATE", "DELETE"],
    apiGroups: ["example.dev"],
    apiVersions: ["v1"],
    resources: ["widgets", "widgets/status"],
  },
];
const widget = (name: string, size: number): object => ({
  ...{ apiVersion: "example.dev/v1", kind: "Widget", metadata: { name }, spec: { size } },
});

describe("admission of a resource that a view stores", function () {
  this.timeout(30_000);
  let webhooks: WebhookServer;
  let kept: Kept;

  beforeEach(async () => {
    webhooks = await WebhookServer.start();
    const options = { admissionWebhooks: anywhere, virtualWorkspaces: [shelf("shelf")] };
    kept = await Kept.on(await startWorkspaces(memoryStore(), options));
    await kept.says({ url: `${kept.server.url}/services/shelf`, shards: { matchAll: true } });
  });

  afterEach(async () => {
    await kept[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });

  const webhook = (kind: "Validating" | "Mutating", path: string, cluster = kept.provider): Promise<void> =>
    configure(kept.server, cluster, { kind, name: "test", webhooks: [hook(webhooks, path, { rules: RULES })] });

  it("rejects every kind of write by the exporter's webhooks, and never calls the consumer's", async () => {
    await webhook("Validating", "/judge");
    await webhook("Validating", "/consumer", kept.shop);
    webhooks.at("/judge", ({ operation, object }) =>
      operation === "DELETE"
        ? { allowed: false }
        : { allowed: object.spec.size < 10, status: { message: "too large" } },
    );
    const { send } = kept.in;
    expect(failed(await send(`POST ${WIDGETS}`, widget("a", 12))).message).to.include("too large");
    expect((await send(`POST ${WIDGETS}`, widget("a", 1))).status).to.equal(201);
    const { body: old } = await kept.in.get(`${WIDGETS}/a`);
    const replace = [{ op: "replace", path: "/spec/size", value: 12 }];
    const rejected = [
      await send(`PUT ${WIDGETS}/a`, { ...old, spec: { size: 12 } }),
      await send(`PATCH ${WIDGETS}/a`, { spec: { size: 12 } }, { ...MERGE, ...root }),
      await send(`PATCH ${WIDGETS}/a`, replace, { ...JSON_PATCH, ...root }),
      await send(`PATCH ${WIDGETS}/a?fieldManager=m&force=true`, widget("a", 12), { ...APPLY, ...root }),
      await send(`DELETE ${WIDGETS}/a`),
      await send(`DELETE ${WIDGETS}`),
    ];
    expect(rejected.map(({ status }) => status)).to.deep.equal([400, 400, 400, 400, 400, 400]);
    expect((await kept.in.get(`${WIDGETS}/a`)).body).to.deep.equal(old);
    const calls = webhooks.calls("/judge");
    expect(
      calls.map(({ operation, object, oldObject }) => [operation, oldObject?.spec.size, object?.spec.size]),
    ).to.deep.equal([
      ["CREATE", undefined, 12],
      ["CREATE", undefined, 1],
      ...Array.from({ length: 4 }, () => ["UPDATE", 1, 12]),
      ...Array.from({ length: 2 }, () => ["DELETE", 1, undefined]),
    ]);
    expect(new Set(calls.map(({ userInfo }) => userInfo.username))).to.deep.equal(new Set(["shard-admin"]));
    expect(calls[0].object.metadata.annotations).to.deep.equal({ "kcp.io/cluster": kept.shop });
    expect(webhooks.calls("/consumer")).to.deep.equal([]);
  });

  it("changes objects by webhooks before the view stores them", async () => {
    await webhook("Mutating", "/double");
    webhooks.at("/double", ({ object }) => ({
      patch: [{ op: "replace", path: "/spec/size", value: object.spec.size * 2 }],
    }));
    const made = await kept.in.send(`POST ${WIDGETS}?dryRun=All`, widget("a", 1));
    expect([made.status, made.body.spec]).to.deep.equal([201, { size: 2 }]);
    expect((await kept.in.get(`${WIDGETS}/a`)).status).to.equal(404);
    expect((await kept.in.send(`POST ${WIDGETS}`, widget("a", 1))).body.spec).to.deep.equal({ size: 2 });
    await kept.in.send(`PATCH ${WIDGETS}/a`, { spec: { size: 4 } }, { ...MERGE, ...root });
    expect((await kept.in.get(`${WIDGETS}/a`)).body.spec).to.deep.equal({ size: 8 });
  });

  it("judges writes of the status by policies", async () => {
    const spec = {
      matchConstraints: { resourceRules: [{ ...RULES[0], resources: ["widgets/status"] }] },
      validations: [{ expression: "object.status.phase != 'Broken'" }],
    };
    const made = [
      await makePolicy(kept.server, kept.provider, { kind: "Validating", name: "status", spec }),
      await makeBinding(kept.server, kept.provider, {
        kind: "Validating",
        name: "status",
        spec: { policyName: "status", validationActions: ["Deny"] },
      }),
    ];
    expect(made.map(({ status }) => status)).to.deep.equal([201, 201]);
    const { send } = kept.in;
    expect((await send(`POST ${WIDGETS}`, widget("a", 1))).status).to.equal(201);
    const patch = (phase: string) =>
      send(`PATCH ${WIDGETS}/a/status`, { status: { phase } }, { ...MERGE, ...root }).then(({ status }) => status);
    expect([await patch("Broken"), await patch("Fine")]).to.deep.equal([422, 200]);
    expect((await kept.in.get(`${WIDGETS}/a`)).body.status).to.deep.equal({ phase: "Fine" });
  });

  it("judges writes in another version of the kind, in the version of the rule", async () => {
    const provider = new ClusterClient(kept.server, kept.provider);
    const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";
    const EXPORT = "/apis/apis.kcp.io/v1alpha2/apiexports/widgets";
    const { spec } = (await provider.get(EXPORT)).body;
    const { body: schema } = await provider.get(`${SCHEMAS}/${spec.resources[0].schema}`);
    const [version] = schema.spec.versions;
    await provider.create(SCHEMAS, {
      apiVersion: schema.apiVersion,
      kind: schema.kind,
      metadata: { name: "two.widgets.example.dev" },
      spec: {
        ...schema.spec,
        conversion: { strategy: "None" },
        versions: [version, { ...version, name: "v2", storage: false }],
      },
    });
    const resources = [{ ...spec.resources[0], schema: "two.widgets.example.dev" }];
    await provider.patch(EXPORT, { spec: { resources } });
    const isThere = ({ body }: Answer): boolean =>
      body.versions?.some(({ version: name }: { version: string }) => name === "v2") === true;
    await untilAnswer(() => kept.in.get("/apis/example.dev"), isThere);
    await webhook("Validating", "/judge");
    webhooks.at("/judge", () => ({ allowed: false }));
    const made = await kept.in.send("POST /apis/example.dev/v2/widgets", {
      ...widget("a", 1),
      apiVersion: "example.dev/v2",
    });
    expect(failed(made).code).to.equal(400);
    const told = webhooks
      .calls("/judge")
      .map(({ object, kind, requestKind }) => [object.apiVersion, kind.version, requestKind.version]);
    expect(told).to.deep.equal([["example.dev/v1", "v1", "v2"]]);
  });

  it("is the view's, as the caller: the workspace's permissions do not stand in for it", async () => {
    await webhook("Validating", "/judge");
    const { status, body } = await kept.in.send(`POST ${WIDGETS}`, widget("a", 1), { user: "alice" });
    expect([status, body.reason]).to.deep.equal([403, "Forbidden"]);
    expect(webhooks.calls("/judge")).to.deep.equal([]);
  });
});

describe("admission of a resource that a view at another server stores", function () {
  this.timeout(30_000);

  it("judges, and sends the judged object as the caller in X-Remote-*", async () => {
    await using webhooks = await WebhookServer.start();
    const [views, shards] = [createAuthority(), createAuthority()];
    const pair = shards.client("shard", ["system:masters"]);
    const told: Told[] = [];
    const warned: string[] = [];
    const authentication = [
      requestHeader({ ca: shards.ca, allowedNames: ["shard"] }),
      clientCertificates({ ca: shards.ca }),
    ];
    await using there = await startTls([shelf("shelf"), echo("echo", told)], {
      ...{ authority: views, authentication },
      tls: { ...views.server, clientCa: shards.ca },
    });
    await using kept = await Kept.start({
      admissionWebhooks: anywhere,
      virtualStorage: { others: { tls: { ca: views.ca }, credentials: { get: () => pair } } },
      log: ({ level, message }) => void (level === "warn" && warned.push(message)),
    });
    await configure(kept.server, kept.provider, {
      kind: "Mutating",
      name: "test",
      webhooks: [hook(webhooks, "/double", { rules: RULES })],
    });
    webhooks.at("/double", ({ object }) => ({
      allowed: object.spec.size < 10,
      patch: [{ op: "replace", path: "/spec/size", value: object.spec.size * 2 }],
    }));
    await kept.says({ url: `https://127.0.0.1:${there.port}/services/shelf`, shards: { matchAll: true } });
    expect((await kept.in.send(`POST ${WIDGETS}`, widget("a", 12))).status).to.equal(400);
    const made = await kept.in.send(`POST ${WIDGETS}`, widget("a", 1));
    expect([made.status, made.body.spec], made.text).to.deep.equal([201, { size: 2 }]);
    await kept.says({ url: `https://127.0.0.1:${there.port}/services/echo`, shards: { matchAll: true } });
    const answer = failed(await kept.in.send(`POST ${WIDGETS}`, widget("b", 1)));
    expect(answer.message).to.not.include("127.0.0.1");
    expect(warned).to.include("a view that stores resources fails");
    expect(told.map(({ user, hops }) => [user.name, hops])).to.deep.equal([["shard-admin", 1]]);
  });
});
