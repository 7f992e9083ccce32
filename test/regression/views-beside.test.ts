// One view of a source showed the field ownership that another view stores there, including values of sets and names of
// hidden fields, and its clients could write it. Also, a delete rejected a version, read over all logical clusters, that an
// update accepted.
import { allow, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY, MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const text = { type: "string" } as const;
const codes = { type: "array", items: text, "x-kubernetes-list-type": "set" } as const;
const common = { version: "v1", scope: "Cluster" } as const;
const Task = defineResource({
  ...common,
  group: "test.dev",
  kind: "Task",
  spec: { type: "object", properties: { text, codes } },
});
const Full = defineResource({
  ...common,
  group: "full.dev",
  kind: "Full",
  spec: { type: "object", properties: { text, codes } },
});
const Short = defineResource({
  ...common,
  group: "short.dev",
  kind: "Short",
  spec: { type: "object", properties: { text } },
});
const Title = defineResource({
  ...common,
  group: "title.dev",
  kind: "Title",
  spec: { type: "object", properties: { title: text } },
});

const at = (group: string, plural: string, cluster = "root") =>
  `/services/views/clusters/${cluster}/apis/${group}/v1/${plural}` as const;
const SHORTS = at("short.dev", "shorts");
const TITLES = at("title.dev", "titles");
const OWNERS = "managed-fields.virtual-workspaces.dev/fulls.full.dev";

async function start() {
  const tasks = Task.collection();
  const full = view({ from: tasks, to: Full, map: ({ spec }) => ({ spec }), mapToSource: ({ spec }) => ({ spec }) });
  const short = view({
    from: tasks,
    to: Short,
    map: ({ spec }) => ({ spec: spec.text === undefined ? {} : { text: spec.text } }),
    mapToSource: ({ spec }, { source }) => ({ spec: { ...source?.spec, ...spec } }),
  });
  // View of a view, whose stored ownership passes through the lower one.
  const title = view({
    from: short,
    to: Title,
    map: ({ spec }) => ({ spec: spec.text === undefined ? {} : { title: spec.text } }),
    mapToSource: ({ spec }) => ({ spec: spec.title === undefined ? {} : { text: spec.title } }),
  });
  const resources = [Full.serve(full), Short.serve(short), Title.serve(title)];
  const server: PlainServer = await startPlain([
    defineVirtualWorkspace({
      name: "views",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources,
    }),
  ]);
  const apply = (kind: string, manager: string, spec: object) => {
    const group = `${kind.toLowerCase()}.dev`;
    const object = { apiVersion: `${group}/v1`, kind, metadata: { name: "a" }, spec };
    return server.send(
      `PATCH ${at(group, `${kind.toLowerCase()}s`)}/a?fieldManager=${manager}`,
      JSON.stringify(object),
      APPLY,
    );
  };
  return { here: tasks.in("root"), server, apply };
}

describe("views of the same source", () => {
  it("do not show the field ownership that others store", async () => {
    const { server, here, apply } = await start();
    await using _ = server;
    expect((await apply("Full", "boss", { text: "t", codes: ["hidden-code"] })).status).to.equal(201);
    expect(here.get("a")?.metadata.annotations?.[OWNERS]).to.contain("hidden-code");
    for (const path of [SHORTS, TITLES, at("short.dev", "shorts", "*")])
      expect((await server.get(path)).text)
        .to.contain('"name":"a"')
        .and.not.contain("hidden-code");
    await using watch = await server.watch(`${SHORTS}?watch=true`);
    expect(JSON.stringify(await watch.next())).not.to.contain("hidden-code");
  });

  it("do not let clients write or lose the ownership that others store", async () => {
    const { server, here, apply } = await start();
    await using _ = server;
    await apply("Full", "boss", { text: "t", codes: ["c"] });
    const kept = here.get("a")?.metadata.annotations?.[OWNERS] ?? "";
    const forged = { metadata: { annotations: { [OWNERS]: kept.replace("boss", "evil") } }, spec: { text: "u" } };
    expect((await server.send(`PATCH ${SHORTS}/a`, forged, MERGE)).status).to.equal(200);
    expect(here.get("a")?.metadata.annotations?.[OWNERS]).to.equal(kept);
    expect(
      (await server.send(`PATCH ${TITLES}/a`, { metadata: { annotations: { [OWNERS]: null } } }, MERGE)).status,
    ).to.equal(200);
    expect(here.get("a")?.metadata.annotations?.[OWNERS]).to.equal(kept);
    expect((await apply("Full", "boss", { text: "v" })).body.spec).to.deep.equal({ text: "v" });
  });

  it("keep their ownership through a lower view", async () => {
    const { server, apply } = await start();
    await using _ = server;
    expect((await apply("Title", "ann", { title: "x" })).status).to.equal(201);
    const conflict = await apply("Title", "bob", { title: "y" });
    expect([conflict.status, conflict.body.message]).to.deep.equal([
      409,
      'Apply failed with 1 conflict: conflict with "ann": .spec.title',
    ]);
  });
});

describe("a delete through a view", () => {
  it("accepts a current version that was read over all logical clusters", async () => {
    const { server, here } = await start();
    await using _ = server;
    here.set("a", { text: "one" });
    const seen = async () => (await server.get(at("short.dev", "shorts", "*"))).body.items[0].metadata.resourceVersion;
    const before = await seen();
    here.set("a", { text: "two" });
    const remove = (resourceVersion: string) =>
      server.send(`DELETE ${SHORTS}/a`, { preconditions: { resourceVersion } });
    expect((await remove(before)).status).to.equal(409);
    expect((await remove("12345")).status).to.equal(409);
    expect((await remove(await seen())).status).to.equal(200);
    expect(here.list()).to.deep.equal([]);
  });
});
