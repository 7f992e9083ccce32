// Several SpaceProviderDescs of one type: each space belongs to one of them, which alone can delete it.
import { cpSync, readFileSync } from "node:fs";
import { namespaceOf, processesProvider, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { Management } from "./support/management.ts";
import { idleIn, isRunning, ProcessSpaces } from "./support/processes.ts";

const isThere = (space: unknown): boolean => space !== undefined;

describe("two providers of the type processes", function () {
  this.timeout(60_000);

  it("do not discover each other's spaces, have equal names, and delete only their own", async () => {
    await using management = await Management.start();
    await using processes = new ProcessSpaces();
    const type = processesProvider(processes.options({ command: idleIn, keep: false }));
    await using manager = management.manager({ types: { processes: type } });
    await manager.started;
    const at = (provider: string, name: string): string => processes.path("..", provider, name);
    const pidOf = (path: string): number => JSON.parse(readFileSync(`${path}/process.json`, "utf8")).pid;
    const started = async (provider: string, namespace: string): Promise<number> => {
      await management.make(namespace, "edge", { SpaceProviderDescName: provider });
      await management.until(namespace, "edge", (space) => space?.status?.spaceID !== undefined);
      await processes.startedTimes(at(provider, "edge"), 1);
      await management.untilProvider(provider, (one) => one?.status?.spaces === 1);
      return pidOf(at(provider, "edge"));
    };
    await management.provide("local", { type: "processes" });
    await management.provide("local3", { type: "processes" });
    const pid = await started("local", "default");
    const counted = await management.untilProvider("local3", (one) => one?.status?.Phase === "Ready");
    expect(counted?.status?.spaces).to.equal(0);
    const other = await started("local3", namespaceOf("local3"));
    expect(other).not.to.equal(pid);
    const all = (await management.client.resource(Space).list()).items;
    expect(all.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort()).to.deep.equal([
      "default/edge",
      "spaceprovider-local3/edge",
    ]);
    await management.removeSpace(namespaceOf("local3"), "edge");
    expect([isRunning(other), isRunning(pid)]).to.deep.equal([false, true]);
    await management.removeProvider("local3");
    expect([pidOf(at("local", "edge")), isRunning(pid)]).to.deep.equal([pid, true]);
    await management.removeSpace("default", "edge");
    expect(isRunning(pid)).to.equal(false);
    await management.removeProvider("local");
    expect((await management.client.resource(SpaceProviderDesc).list()).items).to.deep.equal([]);
  });

  it("do not take a copy of a space's folder for a space", async () => {
    await using processes = new ProcessSpaces();
    const here = await processes.open({ command: idleIn });
    await here.create("shop");
    await here.until("shop", () => processes.has("shop", "process.json") && processes.pid("shop") > 0);
    const pid = processes.pid("shop");
    const there = await processes.open({ command: idleIn }, "there");
    for (const copy of [processes.path("copy"), processes.path("..", "there", "shop")])
      cpSync(processes.path("shop"), copy, { recursive: true });
    expect((await here.list()).map(({ name }) => name)).to.deep.equal(["shop"]);
    expect(await there.list()).to.deep.equal([]);
    const refused = await there.create("shop").catch((error: Error) => error.message);
    expect(refused).to.equal("shop in the directory of the provider is not a space: move it away");
    await there.delete("shop");
    await here.delete("copy");
    expect([processes.has("copy", "space.json"), isRunning(pid)]).to.deep.equal([true, true]);
  });

  it("share the maximum number of processes", async () => {
    await using processes = new ProcessSpaces();
    const here = await processes.open({ command: idleIn, most: 1 });
    const there = await processes.open({ command: idleIn, most: 1 }, "there");
    await here.create("shop");
    const refused = await there.create("other").catch((error: Error) => error.message);
    expect(refused).to.match(/^the provider has its maximum of 1 processes: /);
    const odd = await processes.open({}, "../up").catch((error: Error) => error.message);
    expect(odd).to.match(/^metadata\.name: invalid name of a directory, /);
    expect(isThere(await here.get("shop"))).to.equal(true);
  });
});
