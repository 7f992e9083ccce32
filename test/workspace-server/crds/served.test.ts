// Why: custom resources over real sockets, from creation to deletion, in two logical clusters, over both stores.

import { lmdbStore, memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import type { Answer } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { definition, type Json, version } from "./definitions.ts";
import { type Shard, startShard } from "./subject.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.dev/v1/namespaces/default/widgets";

const widget = (name: string, more: Json = {}): Json => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name },
  spec: { size: 3 },
  ...more,
});

const ruled = (rule: string, message: string): Json =>
  definition({
    spec: {
      versions: [
        version({
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: { size: { type: "integer" }, colour: { type: "string", default: "red" } },
                  "x-kubernetes-validations": [{ rule, message }],
                },
              },
            },
          },
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
        }),
      ],
    },
  });

const condition = ({ body }: Answer, type: string): string | undefined =>
  body.status?.conditions?.find((one: { readonly type: string }) => one.type === type)?.reason;

async function define(shard: Shard, cluster: string, crd: Json): Promise<Answer> {
  const { name } = crd["metadata"] as { readonly name: string };
  const { server, url } = shard;
  const made = await server.send(`POST ${url(cluster)}${CRDS}`, crd);
  expect(made.status, made.text).to.equal(201);
  return untilAnswer(
    () => server.get(`${url(cluster)}${CRDS}/${name}`),
    (answer) => condition(answer, "Established") !== undefined,
  );
}

const STORES: Readonly<Record<string, () => Promise<{ readonly store: Store; readonly end: () => void }>>> = {
  memory: async () => ({ store: memoryStore(), end: () => undefined }),
  lmdb: async () => {
    const folder = tree({});
    return { store: await lmdbStore({ dir: folder.path }), end: () => folder[Symbol.dispose]() };
  },
};

for (const [name, open] of Object.entries(STORES))
  describe(`custom resources, over ${name}`, function () {
    this.timeout(30_000);
    let shard: Shard;
    let end: () => void;

    beforeEach(async () => {
      const opened = await open();
      end = opened.end;
      shard = await startShard({ store: opened.store });
    });

    afterEach(async () => {
      await shard[Symbol.asyncDispose]();
      end();
    });

    it("are served once established, with their rules", async () => {
      const { server, url } = shard;
      const root = url("root");
      expect((await server.get(root + WIDGETS)).status).to.equal(404);
      const crd = await define(shard, "root", ruled("self.size < 10", "too large"));
      expect(condition(crd, "NamesAccepted")).to.equal("NoConflicts");
      expect(condition(crd, "Established")).to.equal("InitialNamesAccepted");
      expect(crd.body.status.acceptedNames).to.deep.equal({
        plural: "widgets",
        singular: "widget",
        kind: "Widget",
        listKind: "WidgetList",
      });
      expect(crd.body.status.storedVersions).to.deep.equal(["v1"]);
      const made = await server.send(`POST ${root}${WIDGETS}`, widget("a"));
      expect(made.body.spec).to.deep.equal({ size: 3, colour: "red" });
      const refused = await server.send(`POST ${root}${WIDGETS}`, widget("b", { spec: { size: 10 } }));
      expect([refused.status, refused.body.message]).to.deep.equal([
        422,
        'Widget.example.dev "b" is invalid: spec: Invalid value: too large',
      ]);
      const table = await server.get(root + WIDGETS, {
        headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      });
      expect(table.body.columnDefinitions.map((column: { name: string }) => column.name)).to.deep.equal([
        "Name",
        "Size",
      ]);
      expect(
        (await server.get(`${root}/apis/example.dev/v1`)).body.resources.map((one: { name: string }) => one.name),
      ).to.deep.equal(["widgets", "widgets/status"]);
    });

    it("of the same name may differ between logical clusters", async () => {
      const { server, url } = shard;
      await define(shard, "one", ruled("self.size < 10", "too large"));
      await define(shard, "two", ruled("self.size > 10", "too small"));
      const made = await Promise.all(
        ["one", "two"].map((cluster) => server.send(`POST ${url(cluster)}${WIDGETS}`, widget("a"))),
      );
      expect(made.map(({ status }) => status)).to.deep.equal([201, 422]);
      await server.send(`POST ${url("two")}${WIDGETS}`, widget("b", { spec: { size: 11 } }));
      const names = async (cluster: string): Promise<string[]> =>
        (await server.get(url(cluster) + WIDGETS)).body.items.map(
          (one: { metadata: { name: string } }) => one.metadata.name,
        );
      expect([await names("one"), await names("two")]).to.deep.equal([["a"], ["b"]]);
      expect((await server.get(url("three") + WIDGETS)).status).to.equal(404);
      expect(shard.crds.servedIn("three")).to.equal(shard.crds.servedIn("four"));
      expect(shard.crds.servedIn("one")).to.equal(shard.crds.servedIn("one"));
    });

    it("follow changes of their definition: open watches end, and reads use the new schema", async () => {
      const { server, url } = shard;
      const root = url("root");
      const { body: crd } = await define(shard, "root", ruled("self.size < 10", "too large"));
      await server.send(`POST ${root}${WIDGETS}`, widget("a"));
      const before = shard.crds.servedIn("root");
      await using watch = await server.watch(`${root}${WIDGETS}?watch=true&resourceVersion=0`);
      crd.metadata.labels = { a: "b" };
      const labelled = await server.send(`PUT ${root}${CRDS}/widgets.example.dev`, crd);
      expect(labelled.status, labelled.text).to.equal(200);
      await server.send(`POST ${root}${WIDGETS}`, widget("b"));
      expect((await watch.until(({ object }) => object.metadata?.name === "b")).at(-1)?.type).to.equal("ADDED");
      expect(shard.crds.servedIn("root")).to.equal(before);
      const next = labelled.body;
      next.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.colour.default = "blue";
      next.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.weight = { type: "integer", default: 7 };
      expect((await server.send(`PUT ${root}${CRDS}/widgets.example.dev`, next)).status).to.equal(200);
      const last = (await watch.rest()).at(-1);
      expect([last?.type, last?.object.code]).to.deep.equal(["ERROR", 410]);
      const read = await server.get(`${root}${WIDGETS}/a`);
      expect(read.body.spec).to.deep.equal({ size: 3, colour: "red", weight: 7 });
    });

    it("are deleted with their definition: objects first, waiting for finalizers", async () => {
      const { server, url, store } = shard;
      const root = url("root");
      await define(shard, "root", ruled("self.size < 10", "too large"));
      for (const one of ["a", "b", "c"]) await server.send(`POST ${root}${WIDGETS}`, widget(one));
      await server.send(
        `POST ${root}${WIDGETS}`,
        widget("held", { metadata: { name: "held", finalizers: ["test.dev/held"] } }),
      );
      await using watch = await server.watch(`${root}${WIDGETS}?watch=true`);
      const deleted = await server.send(`DELETE ${root}${CRDS}/widgets.example.dev`);
      expect([deleted.status, deleted.body.metadata.finalizers]).to.deep.equal([
        200,
        ["customresourcecleanup.apiextensions.k8s.io"],
      ]);
      const gone = await watch.until(
        ({ type, object }) => type === "MODIFIED" && object.metadata.deletionTimestamp !== undefined,
      );
      expect(gone.at(-1)?.object.metadata.name).to.equal("held");
      const waiting = await untilAnswer(
        () => server.get(`${root}${CRDS}/widgets.example.dev`),
        (answer) => condition(answer, "Terminating") === "InstanceDeletionInProgress",
      );
      expect(waiting.status).to.equal(200);
      const late = await server.send(`POST ${root}${WIDGETS}`, widget("late"));
      expect([late.status, late.body.message]).to.deep.equal([
        403,
        'widgets.example.dev "late" is forbidden: create not allowed while custom resource definition is terminating',
      ]);
      const { resources } = (await server.get(`${root}/apis/example.dev/v1`)).body;
      const verbs = resources.map(
        ({ name, verbs: of }: { name: string; verbs: string[] }) => `${name} ${of.join(" ")}`,
      );
      expect(verbs).to.deep.equal([
        "widgets delete deletecollection get list watch",
        "widgets/status get patch update",
      ]);
      const freed = await server.send(`PATCH ${root}${WIDGETS}/held`, '{"metadata":{"finalizers":null}}', {
        headers: { "content-type": "application/merge-patch+json" },
      });
      expect(freed.status, freed.text).to.equal(200);
      await untilAnswer(
        () => server.get(`${root}${CRDS}/widgets.example.dev`),
        ({ status }) => status === 404,
      );
      expect((await server.get(root + WIDGETS)).status).to.equal(404);
      expect((await store.range({ from: "@", to: "A" })).entries).to.deep.equal([]);
    });

    it("never show objects of an earlier definition of the same name", async () => {
      const { server, url } = shard;
      const root = url("root");
      await define(shard, "root", definition());
      await server.send(`POST ${root}${WIDGETS}`, widget("old"));
      await server.send(`DELETE ${root}${CRDS}/widgets.example.dev`);
      await untilAnswer(
        () => server.get(`${root}${CRDS}/widgets.example.dev`),
        ({ status }) => status === 404,
      );
      await define(shard, "root", definition());
      expect((await server.get(root + WIDGETS)).body.items).to.deep.equal([]);
    });

    it("have several versions, which may be unserved or deprecated", async () => {
      const { server, url } = shard;
      const root = url("root");
      const versions = [
        { ...version({ served: false }), name: "v1" },
        { ...version({ storage: false, deprecated: true }), name: "v1beta1" },
        { ...version({ storage: false }), name: "v2" },
      ];
      await define(shard, "root", definition({ spec: { versions } }));
      const at = (name: string): `/${string}` => `${root}${WIDGETS.replace("v1", name)}`;
      const made = await server.send(`POST ${at("v1beta1")}`, { ...widget("a"), apiVersion: "example.dev/v1beta1" });
      expect(made.status, made.text).to.equal(201);
      expect(made.headers["warning"]).to.equal(
        '299 - "example.dev/v1beta1 Widget is deprecated; use example.dev/v2 Widget"',
      );
      const read = await server.get(`${at("v2")}/a`);
      expect([read.body.apiVersion, read.body.spec, read.headers["warning"]]).to.deep.equal([
        "example.dev/v2",
        { size: 3 },
        undefined,
      ]);
      expect((await server.get(at("v1"))).status).to.equal(404);
    });

    it("get names in order of creation", async () => {
      const { server, url } = shard;
      const root = url("root");
      await define(shard, "root", definition({ names: { shortNames: ["w"] } }));
      const other = definition({
        metadata: { name: "wares.example.dev" },
        names: { plural: "wares", kind: "Widget", shortNames: ["w"] },
      });
      const waiting = await define(shard, "root", other);
      const says = waiting.body.status.conditions.map(({ type, status, reason, message }: Record<string, string>) => [
        type,
        status,
        reason,
        message,
      ]);
      expect(says).to.deep.equal([
        ["NamesAccepted", "False", "ListKindConflict", '"WidgetList" is already in use'],
        ["Established", "False", "NotAccepted", "not all names are accepted"],
      ]);
      expect((await server.get(`${root}/apis/example.dev/v1/wares`)).status).to.equal(404);
      await define(shard, "elsewhere", other);
      await server.send(`DELETE ${root}${CRDS}/widgets.example.dev`);
      const got = await untilAnswer(
        () => server.get(`${root}${CRDS}/wares.example.dev`),
        (answer) => condition(answer, "Established") === "InitialNamesAccepted",
      );
      expect(got.body.status.acceptedNames.shortNames).to.deep.equal(["w"]);
    });
  });
