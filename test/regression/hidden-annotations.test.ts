// Every view of a source showed the last configuration that `kubectl apply` had applied to the source, including hidden
// fields, and kubectl took it for that of the view. Also, a view could hide labels but not annotations.
import { allow, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { MERGE } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

const text = { type: "string" } as const;
const common = { version: "v1", scope: "Cluster" } as const;
const Task = defineResource({
  ...common,
  group: "test.dev",
  kind: "Task",
  spec: { type: "object", properties: { text, secret: text } },
});
const Short = defineResource({
  ...common,
  group: "short.dev",
  kind: "Short",
  spec: { type: "object", properties: { text } },
});
const Bare = defineResource({
  ...common,
  group: "bare.dev",
  kind: "Bare",
  spec: { type: "object", properties: { text } },
});
const at = (group: string, plural: string) => `/services/views/clusters/root/apis/${group}/v1/${plural}/a` as const;
const [TASK, SHORT, BARE] = [at("test.dev", "tasks"), at("short.dev", "shorts"), at("bare.dev", "bares")] as const;
const LAST = "kubectl.kubernetes.io/last-applied-configuration";

async function start() {
  const tasks = Task.collection();
  const map = ({ spec }: { spec: { text?: string } }) => ({ spec: spec.text === undefined ? {} : { text: spec.text } });
  const short = view({
    from: tasks,
    to: Short,
    map,
    mapToSource: ({ spec }, { source }) => ({ spec: { ...source?.spec, ...spec } }),
  });
  const bare = view({
    from: tasks,
    to: Bare,
    map: (task) => ({ ...map(task), metadata: { labels: {}, annotations: { shown: "1" } } }),
    mapToSource: ({ spec }, { source }) => ({ spec: { ...source?.spec, ...spec } }),
  });
  const resources = [Task.serve(tasks), Short.serve(short), Bare.serve(bare)];
  const server = await startPlain([
    defineVirtualWorkspace({
      name: "views",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources,
    }),
  ]);
  const annotate = (path: `/${string}`, annotations: object) =>
    server.send(`PATCH ${path}`, { metadata: { annotations } }, MERGE);
  const shown = async (path: `/${string}`) => (await server.get(path)).body.metadata.annotations;
  return { here: tasks.in("root"), server, annotate, shown };
}

describe("the last-applied annotation", () => {
  it("belongs to each kind, and is hidden from the others", async () => {
    const { server, here, annotate, shown } = await start();
    await using _ = server;
    here.set("a", { text: "t", secret: "s" }, { annotations: { [LAST]: '{"spec":{"secret":"s"}}', note: "n" } });
    for (const path of [SHORT, BARE]) expect(await shown(path)).not.to.have.property(LAST);
    expect((await annotate(SHORT, { [LAST]: "short's" })).body.metadata.annotations).to.include({
      [LAST]: "short's",
      note: "n",
    });
    expect((await annotate(BARE, { [LAST]: "bare's" })).body.metadata.annotations).to.include({ [LAST]: "bare's" });
    expect(await shown(SHORT)).to.include({ [LAST]: "short's" });
    expect(here.get("a")?.metadata.annotations?.[LAST]).to.equal('{"spec":{"secret":"s"}}');
    expect(JSON.stringify(await shown(BARE))).not.to.contain("short's");
    expect((await annotate(SHORT, { [LAST]: null })).body.metadata.annotations).not.to.have.property(LAST);
    expect(await shown(BARE)).to.include({ [LAST]: "bare's" });
    expect((await annotate(TASK, { [LAST]: null })).status).to.equal(200);
    expect(await shown(BARE)).to.include({ [LAST]: "bare's" });
    expect(JSON.stringify(here.get("a")?.metadata.managedFields ?? [])).not.to.contain("last-applied.virtual");
  });
});

describe("annotations that `map` returns", () => {
  it("are the only visible ones besides the server's, and writes keep the others", async () => {
    const { server, here, annotate, shown } = await start();
    await using _ = server;
    here.set("a", { text: "t" }, { labels: { team: "blue" }, annotations: { private: "p" } });
    expect(Object.keys(await shown(BARE)).sort()).to.deep.equal([
      "kcp.io/cluster",
      "shown",
      "virtual-workspaces.dev/source-version",
    ]);
    expect((await annotate(BARE, { private: null, mine: "m" })).status).to.equal(200);
    expect(here.get("a")?.metadata.annotations).to.include({ private: "p", mine: "m" });
  });
});
