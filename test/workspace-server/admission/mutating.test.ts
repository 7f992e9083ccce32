// Mutating webhooks: their order, patches, defaults, and second calls.
import { expect } from "chai";
import { crd } from "../../_support/crd.ts";
import { MERGE } from "../../_support/patches.ts";
import { define, makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { WebhookServer } from "./support/webhook.ts";

const user = "root";
const add = (path: string, value: unknown): object => ({ op: "add", path, value });

describe("mutating webhooks", function () {
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

  const mutate = (name: string, ...hooks: readonly object[]) =>
    configure(server, cluster, { kind: "Mutating", name, webhooks: hooks });
  const append = (path: string, text: string) =>
    webhooks.at(path, ({ object }) => ({ patch: [add("/data/text", `${object.data.text}${text}`)] }));

  it("run by configuration's name and in order, each on the result of those before, and then the validating ones", async () => {
    for (const letter of ["a", "b", "c"]) append(`/order/${letter}`, letter);
    await mutate("2", hook(webhooks, "/order/c"));
    await mutate("1", hook(webhooks, "/order/a"), hook(webhooks, "/order/b"));
    await configure(server, cluster, { kind: "Validating", name: "0", webhooks: [hook(webhooks, "/order/validate")] });
    const { body } = await makeMap(server, cluster, { name: "a", data: { text: "" } });
    expect(body.data).to.deep.equal({ text: "abc" });
    expect(webhooks.calls("/order/validate").map(({ object }) => object.data.text)).to.deep.equal(["abc"]);
  });

  it("are reinvoked once with IfNeeded, when a later one has changed the object", async () => {
    append("/again/if-needed", "i");
    append("/again/never", "n");
    webhooks.at("/again/same", () => ({ patch: [add("/metadata/labels/same", "yes")] }));
    await mutate(
      "test",
      hook(webhooks, "/again/if-needed", { reinvocationPolicy: "IfNeeded" }),
      hook(webhooks, "/again/never"),
      hook(webhooks, "/again/same", { reinvocationPolicy: "IfNeeded" }),
    );
    const { body } = await makeMap(server, cluster, { name: "a", data: { text: "" }, labels: { same: "yes" } });
    expect(body.data).to.deep.equal({ text: "ini" });
    expect(webhooks.calls("/again/if-needed")).to.have.length(2);
    expect(webhooks.calls("/again/same")).to.have.length(2);
  });

  it("see defaults after each patch, and what they add is pruned and validated by the schema", async () => {
    const spec = {
      type: "object",
      properties: { size: { type: "integer", maximum: 9 }, color: { type: "string", default: "red" } },
    };
    await define(server, cluster, [crd("Widget", { scope: "Cluster", properties: { spec } })]);
    const rules = [{ operations: ["*"], apiGroups: ["example.dev"], apiVersions: ["v1"], resources: ["widgets"] }];
    webhooks.at("/default/one", ({ object }) => ({
      patch: [add("/spec", { size: Number(object.metadata.name), unknown: 1 })],
    }));
    await mutate("test", hook(webhooks, "/default/one", { rules }), hook(webhooks, "/default/two", { rules }));
    const make = (name: string) =>
      server.send(
        `POST /clusters/${cluster}/apis/example.dev/v1/widgets`,
        { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name } },
        { user },
      );
    const made = await make("3");
    expect(made.body.spec).to.deep.equal({ size: 3, color: "red" });
    expect(webhooks.calls("/default/two").map(({ object }) => object.spec)).to.deep.equal([{ size: 3, color: "red" }]);
    expect(made.body.metadata.annotations).to.deep.equal({ "kcp.io/cluster": cluster });
    const wrong = await make("10");
    expect([wrong.status, wrong.body.reason]).to.deep.equal([422, "Invalid"]);
  });

  it("judge definitions of kinds, which are validated again if a webhook changes them", async () => {
    const rules = [
      { operations: ["CREATE"], apiGroups: ["apiextensions.k8s.io"], apiVersions: ["v1"], resources: ["*"] },
    ];
    await mutate("test", hook(webhooks, "/definitions", { rules }));
    const path = `POST /clusters/${cluster}/apis/apiextensions.k8s.io/v1/customresourcedefinitions` as const;
    const made = async (kind: string, patch: object) => {
      webhooks.at("/definitions", () => ({ patch: [patch] }));
      return server.send(path, crd(kind), { user });
    };
    const { body } = await made("Fine", add("/spec/names/shortNames", ["fi"]));
    expect([body.spec.names.shortNames, body.spec.names.listKind]).to.deep.equal([["fi"], "FineList"]);
    expect(webhooks.calls("/definitions").map(({ object }) => object.spec.names.singular)).to.deep.equal(["fine"]);
    const invalid = await made("Wrong", add("/spec/names/shortNames", ["No Name"]));
    expect([invalid.status, invalid.body.details.causes[0].field]).to.deep.equal([422, "spec.names.shortNames[0]"]);
  });

  it("change updates too, and the annotation of the logical cluster stays kcp's", async () => {
    const rules = [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
    webhooks.at("/update", ({ object }) => ({
      patch: [
        add("/metadata/annotations", { ...object.metadata.annotations, "kcp.io/cluster": "other", by: "webhook" }),
        add("/data", { size: String(Object.keys(object.data ?? {}).length) }),
      ],
    }));
    await mutate("test", hook(webhooks, "/update", { rules }));
    const made = await makeMap(server, cluster, { name: "a", data: { a: "1", b: "2" } });
    expect(made.body.data).to.deep.equal({ size: "2" });
    const path = `/clusters/${cluster}/${MAPS}/a` as const;
    const { body } = await server.send(`PATCH ${path}`, { data: { c: "3", d: "4" } }, { user, ...MERGE });
    expect(body.data).to.deep.equal({ size: "3" });
    for (const { metadata } of [made.body, body])
      expect(metadata.annotations).to.deep.equal({ "kcp.io/cluster": cluster, by: "webhook" });
  });

  const WRONG: readonly (readonly [patch: readonly object[], message: string])[] = [
    [[{ op: "remove", path: "/none" }], "returned a patch that cannot be applied: "],
    [[{ op: "jump" }], "returned a patch that cannot be applied: "],
    [[add("/metadata", "text")], "returned a patch that cannot be applied: the result is not an object with metadata"],
    [
      [add("/metadata/labels", { a: 1 })],
      "returned a patch that cannot be applied: metadata.labels must be a map of strings",
    ],
    [[add("/metadata/namespace", "kube-system")], "attempted to change metadata.namespace, which is not supported"],
    [[add("/metadata/name", "other")], "attempted to change metadata.name, which is not supported"],
    [[add("/kind", "Secret")], "attempted to change kind, which is not supported"],
  ];
  for (const [patch, message] of WRONG)
    it(`may not change more than the content: ${message.slice(0, 90)} (${JSON.stringify(patch).slice(0, 40)})`, async () => {
      webhooks.at("/wrong", () => ({ patch }));
      await mutate("test", hook(webhooks, "/wrong"));
      const { status, body } = await makeMap(server, cluster, { name: "a" });
      expect(status).to.equal(500);
      expect(body.message)
        .to.contain('Internal error occurred: admission webhook "wrong.example.dev" ')
        .and.to.contain(message);
    });

  it("may not patch what a delete removes", async () => {
    const rules = [{ operations: ["DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
    webhooks.at("/delete", () => ({ patch: [add("/data", {})] }));
    await mutate("test", hook(webhooks, "/delete", { rules }));
    await makeMap(server, cluster, { name: "a" });
    const { status, body } = await server.send(`DELETE /clusters/${cluster}/${MAPS}/a`, undefined, { user });
    expect([status, body.message]).to.deep.equal([
      500,
      'Internal error occurred: admission webhook "delete.example.dev" attempted to modify the object, which is not supported for this operation',
    ]);
  });

  it("keep the labels of claims out: the server sets those after them", async () => {
    const label = "claimed.internal.apis.kcp.io/2ABcdEfGhIjKlMnOpQrStUvWxYz";
    webhooks.at("/claims", () => ({ patch: [add("/metadata/labels", { [label]: "forged", own: "yes" })] }));
    await mutate("test", hook(webhooks, "/claims"));
    const { body } = await makeMap(server, cluster, { name: "a" });
    expect(body.metadata.labels).to.deep.equal({ own: "yes" });
  });
});
